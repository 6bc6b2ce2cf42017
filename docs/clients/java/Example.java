import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;

/** Asks for one break and prints the answer: Example URL TIMEOUT_MS BREAK_ID BREAK_AT. */
public final class Example {
  public static void main(String[] args) {
    var ask = """
        {"deviceId":"tv-1","breakId":"%s","breakAt":%s,"slots":2,"candidates":[
        {"creativeId":"spring \\"sale\\"","brandId":"acme.example"},{"creativeId":"b"},
        {"creativeId":"c","industryIds":["auto"]}]}""".formatted(args[2], args[3]);
    var of = new Selection.Break(args[2], Long.parseLong(args[3]), 2, List.of("spring \"sale\"", "b", "c"));
    var limit = Duration.ofMillis(Long.parseLong(args[1]));
    // One for the life of the process, as it keeps its connections; without this each would begin by asking for HTTP/2.
    var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    System.out.println(Selection.select(client, args[0], limit, ask, of));
  }
}
