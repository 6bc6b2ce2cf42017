// Package selection asks adcap which ads a viewer may see in a break.
package selection

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"time"
)

// Object is a JSON object: nothing that a newer service says is lost.
type Object = map[string]any

// Select always answers: what the service says, or the same shape that allows everything, marked, with the reason. The client's
// Timeout is the limit of the whole call. `slots` is an int, `candidates` a []Object.
func Select(client *http.Client, url string, ask Object) (answer Object) {
	candidates, _ := ask["candidates"].([]Object)
	slots, _ := ask["slots"].(int)
	body, _ := json.Marshal(ask)
	response, err := client.Post(url+"/v1/selections", "application/json", bytes.NewReader(body))
	if err == nil {
		defer response.Body.Close()
		body, err = io.ReadAll(response.Body)
	}
	broken := json.Unmarshal(body, &answer)
	told, _ := answer["candidates"].([]any)
	reason := "client_bad_answer"
	switch {
	case os.IsTimeout(err):
		reason = "client_timeout"
	case err != nil:
		reason = "client_unreachable"
	case response.StatusCode != http.StatusOK:
		reason = "client_status"
	case broken == nil && answer["source"] != nil && answer["pod"] != nil && len(told) == len(candidates):
		return answer
	}
	verdicts, pod := []Object{}, []Object{}
	for index, ad := range candidates {
		verdicts = append(verdicts, Object{"index": index, "creativeId": ad["creativeId"], "outcome": "noSlot", "allowed": true, "remaining": nil})
		if index < slots {
			verdicts[index]["outcome"] = "placed"
			pod = append(pod, Object{"slot": index + 1, "index": index, "creativeId": ad["creativeId"], "reservationId": ""})
		}
	}
	return Object{"breakId": ask["breakId"], "breakAt": ask["breakAt"], "serverTime": time.Now().UnixMilli(),
		"source": "open", "degraded": true, "degradedReason": reason, "reserved": false, "rulesVersion": nil, "asOf": nil,
		"candidates": verdicts, "pod": pod, "unfilled": slots - len(pod)}
}
