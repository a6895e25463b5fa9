import com.segment.analytics.Analytics;
import com.segment.analytics.Callback;
import com.segment.analytics.messages.AliasMessage;
import com.segment.analytics.messages.GroupMessage;
import com.segment.analytics.messages.IdentifyMessage;
import com.segment.analytics.messages.Message;
import com.segment.analytics.messages.MessageBuilder;
import com.segment.analytics.messages.PageMessage;
import com.segment.analytics.messages.ScreenMessage;
import com.segment.analytics.messages.TrackMessage;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Tells the story with analytics-java: {@code SendCalls.java <endpoint> <write key>}. */
public final class SendCalls {
  public static void main(String[] args) throws InterruptedException {
    var calls = story();
    var answered = new CountDownLatch(calls.size());
    var failures = new AtomicInteger();
    var analytics = Analytics.builder(args[1]).endpoint(args[0]).callback(counting(answered, failures)).build();
    calls.forEach(analytics::enqueue);
    analytics.flush();
    var inTime = answered.await(30, TimeUnit.SECONDS);
    analytics.shutdown();
    System.exit(inTime && failures.get() == 0 ? 0 : 1);
  }

  private static Callback counting(CountDownLatch answered, AtomicInteger failures) {
    return new Callback() {
      @Override
      public void success(Message message) {
        answered.countDown();
      }

      @Override
      public void failure(Message message, Throwable reason) {
        reason.printStackTrace();
        failures.incrementAndGet();
        answered.countDown();
      }
    };
  }

  private static List<MessageBuilder<?, ?>> story() {
    return List.of(
        IdentifyMessage.builder()
            .userId("user-1")
            .traits(Map.of("email", "ada@example.com", "plan", "pro", "logins", 3, "address", Map.of("city", "Zürich"))),
        TrackMessage.builder("Order Completed")
            .userId("user-1")
            .properties(order())
            .timestamp(Date.from(Instant.parse("2020-01-01T00:00:00Z")))
            .context(Map.of("ip", "203.0.113.9", "userAgent", "story/1.0"))
            .enableIntegration("All", false)
            .enableIntegration("Webhooks", true),
        PageMessage.builder("Home")
            .anonymousId("anon-1")
            .category("Docs")
            .properties(Map.of("url", "https://shop.example/", "title", "Größe ✓")),
        ScreenMessage.builder("Main").userId("user-1").properties(Map.of("tab", "orders")),
        GroupMessage.builder("group-1").userId("user-1").traits(Map.of("name", "Acme", "employees", 42)),
        AliasMessage.builder("user-1").userId("user-2"));
  }

  private static Map<String, Object> order() {
    var order = new HashMap<String, Object>();
    order.put("revenue", 12.5);
    order.put("currency", "EUR");
    order.put("products", List.of(Map.of("sku", "A-1", "quantity", 2)));
    order.put("coupon", null);
    return order;
  }
}
