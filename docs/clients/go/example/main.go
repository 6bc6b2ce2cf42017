// Asks for one break and prints the answer: example URL TIMEOUT_MS BREAK_ID BREAK_AT.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"adcap.example/selection"
)

func main() {
	timeoutMs, _ := strconv.Atoi(os.Args[2])
	breakAt, _ := strconv.ParseInt(os.Args[4], 10, 64)
	client := &http.Client{Timeout: time.Duration(timeoutMs) * time.Millisecond}
	answer := selection.Select(client, os.Args[1], selection.Object{
		"deviceId": "tv-1", "breakId": os.Args[3], "breakAt": breakAt, "slots": 2,
		"candidates": []selection.Object{
			{"creativeId": "spring \"sale\"", "brandId": "acme.example"},
			{"creativeId": "b"},
			{"creativeId": "c", "industryIds": []string{"auto"}},
		},
	})
	text, _ := json.Marshal(answer)
	fmt.Println(string(text))
}
