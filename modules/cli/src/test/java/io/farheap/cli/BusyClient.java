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
 * A client process that runs all activities at once until its standard input ends; its exit code is 0 if all of them
 * could be ended. For each line of input it prints the smallest number of steps that an activity has ended. Arguments:
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
        // An activity that threw something unexpected has ended and is reported at the end: do not wait for it.
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
