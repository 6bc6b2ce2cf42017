import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/** Asks adcap which ads a viewer may see in a break. JSON goes in and out as text: Java has no reader of its own. */
public final class Selection {
  private static final Pattern ANSWER = Pattern.compile("(?s)\\s*\\{(?=.*\"source\":\\s*\"\\w+\")(?=.*\"degraded\":\\s*(true|false))(?=.*\"pod\":\\s*\\[).*}\\s*");
  private static final Pattern VERDICT = Pattern.compile("\"outcome\":\\s*\"");

  /** What the client needs to answer by itself; the same is in the request. */
  public record Break(String breakId, long breakAt, int slots, List<String> creativeIds) {}

  /** Always answers: what the service says, or the same shape that allows everything, marked, with the reason. */
  public static String select(HttpClient client, String url, Duration limit, String ask, Break of) {
    var request = HttpRequest.newBuilder(URI.create(url + "/v1/selections")).timeout(limit)
        .header("content-type", "application/json").POST(HttpRequest.BodyPublishers.ofString(ask)).build();
    try {
      var response = client.sendAsync(request, BodyHandlers.ofString()).orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).join();
      if (response.statusCode() != 200) return open(of, "client_status");
      var text = response.body();
      var isAnswer = ANSWER.matcher(text).matches() && VERDICT.matcher(text).results().count() == of.creativeIds().size();
      return isAnswer ? text : open(of, "client_bad_answer");
    } catch (CompletionException e) {
      var isLate = e.getCause() instanceof TimeoutException || e.getCause() instanceof HttpTimeoutException;
      return open(of, isLate ? "client_timeout" : "client_unreachable");
    }
  }

  private static String open(Break of, String reason) {
    var verdicts = new StringJoiner(",");
    var pod = new StringJoiner(",");
    for (var index = 0; index < of.creativeIds().size(); index++) {
      var isPlaced = index < of.slots();
      var ad = "\"index\":%d,\"creativeId\":%s".formatted(index, quoted(of.creativeIds().get(index)));
      verdicts.add("{%s,\"outcome\":\"%s\",\"allowed\":true,\"remaining\":null}".formatted(ad, isPlaced ? "placed" : "noSlot"));
      if (isPlaced) pod.add("{\"slot\":%d,%s,\"reservationId\":\"\"}".formatted(index + 1, ad));
    }
    return """
        {"breakId":%s,"breakAt":%d,"serverTime":%d,"source":"open","degraded":true,"degradedReason":"%s","reserved":false,\
        "rulesVersion":null,"asOf":null,"candidates":[%s],"pod":[%s],"unfilled":%d}""".formatted(quoted(of.breakId()), of.breakAt(),
        System.currentTimeMillis(), reason, verdicts, pod, Math.max(0, of.slots() - of.creativeIds().size()));
  }

  private static String quoted(String id) {
    return '"' + id.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
