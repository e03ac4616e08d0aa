package io.farheap.cli;

import io.farheap.testing.TestDevice;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A client process that does everything at once until its standard input ends; it ends with 0 then where all could be
 * ended. For each line that it is told it says how many steps have ended of the activity that has least. Arguments:
 * seed, two servers.
 */
final class BusyClient {

    static final String BUSY = "busy";

    private static final long END_NANOS = TestDevice.patience(TimeUnit.SECONDS.toNanos(120));

    private BusyClient() {}

    public static void main(String[] arguments) throws Exception {
        List<String> servers = Arrays.asList(arguments).subList(1, arguments.length);
        List<Activity> activities =
                Activities.all(servers, servers.size(), new SplittableRandom(Long.parseLong(arguments[0])));
        // One that threw has ended, and will not come further: it is told of in the end.
        while (activities.stream().anyMatch(activity -> activity.done() == 0 && activity.unexpected() == null)) {
            LockSupport.parkNanos(1_000_000);
        }
        System.out.println(BUSY);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (input.readLine() != null) {
            System.out.println(least(activities));
        }
        System.exit(end(activities) ? 0 : 1);
    }

    private static long least(List<Activity> activities) {
        return activities.stream()
                .filter(activity -> activity.unexpected() == null)
                .mapToLong(activity -> activity.done() + activity.failed())
                .min()
                .orElse(0);
    }

    private static boolean end(List<Activity> activities) throws InterruptedException {
        activities.forEach(Activity::stop);
        long deadline = System.nanoTime() + END_NANOS;
        boolean all = true;
        for (Activity activity : activities) {
            if (!activity.awaitEnd(deadline)) {
                System.err.println(
                        "a client that went on does not end: " + activity.name() + " is in its " + activity.where());
                all = false;
            } else if (activity.unexpected() != null) {
                activity.unexpected().printStackTrace();
                all = false;
            }
        }
        return all;
    }
}
