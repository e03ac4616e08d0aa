package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.command.ChildJvm;
import io.farheap.command.ServerProcess;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.plane.ControlPlane;
import io.farheap.soak.HeldResources;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A fault that stops or kills any one process, at any time, never makes another process wait longer than the lease plus
 * five seconds, and never ends or delays a request of a process that does not use it.
 *
 * <p>A round stops a server and a client for less than their leases, stops them for longer, and kills them, each at a
 * random moment of all that a client may be doing at the same time ({@link Activities}). Activities that use the sick
 * process must end; other activities must continue, without a failure, while the process is still stopped. The test
 * judges the order of events, with generous bounds, and prints how long each activity waited. The first round, with
 * whose end the ends of the others are compared, stops no process for longer than its lease.
 *
 * <p>{@code -Dfarheap.seed=S} repeats the rounds of a seed that a failure has named.
 */
@Isolated("it counts what this process holds")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Needs({Need.SOFTVERBS, Need.HOST})
@Tag("full")
class FaultMatrixTest {

    private static final long REGION_BYTES = Activities.REGION_BYTES;
    private static final int REGIONS = 96;
    /** For servers that are stopped for longer: if a busy machine lets it end before that, other users begin. */
    private static final long SHORT_LEASE_SECONDS = TestDevice.shortLease(3);
    /** For servers that clients stopped for longer share with others, who must renew it on a busy machine. */
    private static final long SHARED_LEASE_SECONDS = TestDevice.patience(3);
    /** For servers whose clients must not notice that one is stopped. */
    private static final long LONG_LEASE_SECONDS = TestDevice.patience(120);

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
    /** A random moment is within this time. */
    private static final long MOMENT_NANOS = 100_000_000L;

    private static final int STEPS = 5;
    private static final int MOST_ATTEMPTS = 10;
    /** The least regions of a stopped client that must come back; those that it may still write may stay withdrawn. */
    private static final int CLAIMED = 5;

    private static final int ROUNDS = Effort.either(2, 5);
    private static final byte PATTERN = 0x5a;
    /**
     * Descriptors of connections that a server and two others keep to one another for pulls: three at the server that
     * pulls (a socket and a selector's two), one at the other. A client that leaves anything behind leaves more.
     */
    private static final int SERVER_CONNECTIONS = 8;

    private static final int SETTLED = 5;
    private static final long SETTLING_MILLIS = 100;

    private final long seed = Long.getLong("farheap.seed", new SplittableRandom().nextLong(1L << 32));
    private final SplittableRandom random = new SplittableRandom(seed);
    private final List<ServerProcess> servers = new ArrayList<>();
    private final List<ChildJvm> clients = new ArrayList<>();
    private final List<Activity> activities = new ArrayList<>();

    @AfterEach
    void close() {
        activities.forEach(Activity::stop);
        clients.forEach(ChildJvm::kill);
        servers.forEach(ServerProcess::kill);
    }

    @Test
    void noFaultOfAServerHoldsOrEndsWhatDoesNotUseIt() throws Exception {
        try {
            ServerProcess well = server(LONG_LEASE_SECONDS);
            ServerProcess other = server(LONG_LEASE_SECONDS);
            ServerProcess patient = server(LONG_LEASE_SECONDS);
            Resources before = null;
            for (int round = 0; round < ROUNDS; round++) {
                pauseServer(patient, well, other);
                ServerProcess hasty = server(SHORT_LEASE_SECONDS);
                if (round > 0) {
                    stopServer(hasty, well, other);
                }
                // Servers that were stopped can be used like new ones.
                killServer(hasty, well, other);
                servers.remove(hasty);
                for (ServerProcess server : servers) {
                    awaitAllFree(server);
                }
                before = checked(before);
            }
        } catch (Throwable e) {
            throw told(e);
        }
    }

    @Test
    void noFaultOfAClientHoldsOrEndsWhatOthersDo() throws Exception {
        try {
            ServerProcess first = server(SHARED_LEASE_SECONDS);
            ServerProcess second = server(SHARED_LEASE_SECONDS);
            ServerProcess patientFirst = server(LONG_LEASE_SECONDS);
            ServerProcess patientSecond = server(LONG_LEASE_SECONDS);
            Resources before = null;
            for (int round = 0; round < ROUNDS; round++) {
                pauseClient(patientFirst, patientSecond);
                if (round > 0) {
                    stopClient(first, second);
                }
                killClient(first, second);
                for (ServerProcess server : servers) {
                    awaitAllFree(server);
                }
                before = checked(before);
            }
        } catch (Throwable e) {
            throw told(e);
        }
    }

    private AssertionError told(Throwable e) {
        return new AssertionError("with seed " + seed + " (-Dfarheap.seed=" + seed + "): " + e.getMessage(), e);
    }

    // --- a server ---

    /** Stops a server for less than its lease: no client loses anything, and clients of other servers do not notice. */
    private void pauseServer(ServerProcess victim, ServerProcess well, ServerProcess other) throws Exception {
        List<Activity> users = started(Activities.all(List.of(victim.address(), well.address()), 0, random.split()));
        List<Activity> strangers = started(Activities.few(List.of(well.address(), other.address()), 0, random.split()));
        awaitSteps(users);
        awaitSteps(strangers);
        moment();
        victim.suspend();
        forgetLongest();
        awaitSteps(strangers);
        report("a server is stopped for less than the lease; others", strangers);
        victim.resume();
        List<Activity> requests =
                users.stream().filter(user -> !user.onCallsAlone()).toList();
        awaitSteps(requests);
        assertNothingFailed(requests);
        assertNothingFailed(strangers);
        end(users);
        end(strangers);
    }

    private void stopServer(ServerProcess victim, ServerProcess well, ServerProcess other) throws Exception {
        List<Activity> strangers = started(Activities.few(List.of(well.address(), other.address()), 0, random.split()));
        awaitSteps(strangers);
        List<Activity> users = usersInTime(victim, well);
        moment();
        victim.suspend();
        forgetLongest();
        awaitFailures(users);
        awaitSteps(strangers);
        assertNothingFailed(strangers);
        end(users);
        report("a server is stopped for longer than " + SHORT_LEASE_SECONDS + " s; who uses it", users);
        report("others", strangers);
        victim.resume();
        awaitAllFree(victim);
        awaitSteps(strangers);
        assertNothingFailed(strangers);
        end(strangers);
    }

    private void killServer(ServerProcess victim, ServerProcess well, ServerProcess other) throws Exception {
        List<Activity> strangers = started(Activities.few(List.of(well.address(), other.address()), 0, random.split()));
        awaitSteps(strangers);
        List<Activity> users = usersInTime(victim, well);
        moment();
        victim.kill();
        forgetLongest();
        awaitFailures(users);
        awaitSteps(strangers);
        end(users);
        report("a server is killed; who uses it", users);
        report("others", strangers);
        assertNothingFailed(strangers);
        end(strangers);
    }

    /**
     * Users that have done steps without a failure. If a busy machine lets the victim's lease end before that, other
     * users begin.
     */
    private List<Activity> usersInTime(ServerProcess victim, ServerProcess well) throws Exception {
        for (int attempt = 1; ; attempt++) {
            List<Activity> users =
                    started(Activities.all(List.of(victim.address(), well.address()), 1, random.split()));
            if (areOnTheirWay(users)) {
                return users;
            }
            assertTrue(attempt < MOST_ATTEMPTS, () -> "a lease is lost before its server is stopped: " + users);
            end(users);
        }
    }

    /** @return whether all have made progress before a request failed */
    private static boolean areOnTheirWay(List<Activity> users) throws InterruptedException {
        BooleanSupplier failed = () -> users.stream().anyMatch(user -> !user.onCallsAlone() && user.failed() > 0);
        for (Activity user : users) {
            long steps = user.done() + 1 + STEPS;
            await(
                    () -> user.done() >= steps || failed.getAsBoolean() || user.unexpected() != null,
                    () -> user + " does not come forward; it is in its " + user.where());
            assertNothingUnexpected(user);
        }
        return !failed.getAsBoolean();
    }

    /**
     * Waits until each activity that needs the sick server has failed. A region that moves may be on the other server,
     * and a reconfiguration needs no server.
     */
    private void awaitFailures(List<Activity> users) throws InterruptedException {
        for (Activity user : users) {
            if (!user.name().equals("reconfigure") && !user.name().endsWith("while a region moves")) {
                long before = user.failed();
                await(
                        () -> user.failed() > before || user.unexpected() != null,
                        () -> user + " is not told; it is in its " + user.where());
            }
        }
    }

    // --- a client ---

    private void pauseClient(ServerProcess first, ServerProcess second) throws Exception {
        List<Activity> strangers = started(Activities.few(addresses(first, second), 0, random.split()));
        ChildJvm victim = client(first, second);
        awaitSteps(strangers);
        moment();
        victim.suspend();
        forgetLongest();
        awaitSteps(strangers);
        report("a client is stopped for less than the lease; others", strangers);
        victim.resume();
        awaitAlive(victim);
        end(victim);
        assertNothingFailed(strangers);
        end(strangers);
    }

    /** A stopped client's regions are granted to others, and it writes nothing there when it continues. */
    private void stopClient(ServerProcess first, ServerProcess second) throws Exception {
        List<Activity> strangers = started(Activities.few(addresses(first, second), 0, random.split()));
        ChildJvm victim = client(first, second);
        awaitSteps(strangers);
        moment();
        victim.suspend();
        int free = Math.min(free(first), free(second));
        long start = System.nanoTime();
        forgetLongest();
        awaitSteps(strangers);
        await(
                () -> Math.min(free(first), free(second)) >= free + CLAIMED,
                () -> "the regions of a client that is stopped are not given back: " + free(first) + " and "
                        + free(second) + " are free, " + free + " were");
        System.out.printf(
                "fault matrix: regions of a stopped client are free after %,d ms%n",
                (System.nanoTime() - start) / 1_000_000);
        awaitSteps(strangers);
        try (Claim claim = new Claim(addresses(first, second))) {
            victim.resume();
            awaitAlive(victim);
            claim.check();
            end(victim);
            claim.check();
        }
        report("a client is stopped for longer than " + SHARED_LEASE_SECONDS + " s; others", strangers);
        awaitSteps(strangers);
        assertNothingFailed(strangers);
        end(strangers);
        awaitAllFree(first);
        awaitAllFree(second);
    }

    private void killClient(ServerProcess first, ServerProcess second) throws Exception {
        List<Activity> strangers = started(Activities.few(addresses(first, second), 0, random.split()));
        ChildJvm victim = client(first, second);
        awaitSteps(strangers);
        moment();
        // Half of the time the client is stopped first, so that it cannot end its current operations.
        if (random.nextBoolean()) {
            victim.suspend();
            awaitSteps(strangers);
        }
        victim.kill();
        clients.remove(victim);
        forgetLongest();
        awaitSteps(strangers);
        long start = System.nanoTime();
        end(strangers);
        awaitAllFree(first);
        awaitAllFree(second);
        report("a client is killed; others", strangers);
        System.out.printf(
                "fault matrix: all regions are free %,d ms after a client was killed%n",
                (System.nanoTime() - start) / 1_000_000);
        assertNothingFailed(strangers);
        try (Claim claim = new Claim(addresses(first, second))) {
            claim.check();
        }
    }

    /** A cache in regions that belonged to a stopped client. */
    private static final class Claim implements AutoCloseable {
        private final Cache cache;
        private final Buffer buffer;

        Claim(List<String> servers) {
            cache = Cache.builder()
                    .capacity(CLAIMED * servers.size() * REGION_BYTES)
                    .servers(servers)
                    .name("claim")
                    .create();
            buffer = cache.allocate(cache.capacity());
            check((byte) 0);
            buffer.segment().fill(PATTERN);
            try (CacheSession session = cache.openSession()) {
                session.writeBlocking(0, buffer, 0, cache.capacity());
            }
            check();
        }

        void check() {
            check(PATTERN);
        }

        private void check(byte expected) {
            buffer.segment().fill((byte) ~expected);
            try (CacheSession session = cache.openSession()) {
                session.readBlocking(0, buffer, 0, cache.capacity());
            }
            for (long at = 0; at < cache.capacity(); at++) {
                byte found = buffer.segment().get(JAVA_BYTE, at);
                if (found != expected) {
                    fail("byte " + at + " of memory that was granted again is " + found + " and must be " + expected);
                }
            }
        }

        @Override
        public void close() {
            cache.close();
        }
    }

    private ChildJvm client(ServerProcess first, ServerProcess second) throws IOException {
        ChildJvm client = ChildJvm.start(
                Devices.library(),
                Map.of(),
                List.of("-Xmx128m", "-XX:TieredStopAtLevel=1"),
                List.of(
                        BusyClient.class.getName(),
                        Long.toString(random.nextLong()),
                        first.address(),
                        second.address()));
        clients.add(client);
        assertEquals(BusyClient.BUSY, client.output().readLine());
        return client;
    }

    /** Waits until all activities of the client have made progress. */
    private static void awaitAlive(ChildJvm client) throws Exception {
        long before = least(client);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (least(client) < before + 2) {
            assertTrue(System.nanoTime() - deadline < 0, "a client that was stopped and went on does not come forward");
            Thread.sleep(20);
        }
    }

    private static long least(ChildJvm client) throws IOException {
        client.input().write("\n");
        client.input().flush();
        return Long.parseLong(client.output().readLine());
    }

    private void end(ChildJvm client) throws Exception {
        client.input().close();
        assertTrue(client.await(TestDevice.patience(150)), "a client that was stopped and went on does not end");
        assertEquals(0, client.exitValue(), "what a client that was stopped and went on could not end is above");
        clients.remove(client);
    }

    // --- all ---

    private ServerProcess server(long leaseSeconds) {
        ServerProcess server = TestServer.start(REGIONS * REGION_BYTES, REGION_BYTES, "--lease", leaseSeconds + "s");
        servers.add(server);
        return server;
    }

    private static List<String> addresses(ServerProcess... servers) {
        return Stream.of(servers).map(ServerProcess::address).toList();
    }

    private List<Activity> started(List<Activity> all) {
        activities.addAll(all);
        return all;
    }

    private void forgetLongest() {
        activities.forEach(Activity::forgetLongest);
    }

    private void moment() {
        long until = System.nanoTime() + random.nextLong(MOMENT_NANOS);
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    /** Waits until each activity has ended some steps that began after this call. */
    private void awaitSteps(List<Activity> all) throws InterruptedException {
        List<Long> wanted =
                all.stream().map(activity -> activity.done() + 1 + STEPS).toList();
        for (int i = 0; i < all.size(); i++) {
            Activity activity = all.get(i);
            long steps = wanted.get(i);
            await(
                    () -> activity.done() >= steps || activity.unexpected() != null,
                    () -> activity + " does not come forward; it is in its " + activity.where());
            assertNothingUnexpected(activity);
        }
    }

    /**
     * No request has failed. A call's deadline of a few seconds may pass on a busy machine, so activities of calls must
     * only make progress.
     */
    private static void assertNothingFailed(List<Activity> all) {
        for (Activity activity : all) {
            assertNothingUnexpected(activity);
            if (!activity.onCallsAlone()) {
                assertEquals(0, activity.failed(), activity::toString);
            }
        }
    }

    private static void assertNothingUnexpected(Activity activity) {
        if (activity.unexpected() != null) {
            throw new AssertionError(activity + ": " + activity.unexpected(), activity.unexpected());
        }
    }

    private void end(List<Activity> all) throws InterruptedException {
        all.forEach(Activity::stop);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        for (Activity activity : all) {
            assertTrue(activity.awaitEnd(deadline), () -> activity + " does not end; it is in its " + activity.where());
            assertNothingUnexpected(activity);
        }
        activities.removeAll(all);
    }

    private static void await(BooleanSupplier condition, Supplier<String> otherwise) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                fail(otherwise);
            }
            Thread.sleep(2);
        }
    }

    private static void awaitAllFree(ServerProcess server) throws InterruptedException {
        await(
                () -> free(server) == REGIONS,
                () -> free(server) + " of " + REGIONS + " regions of a server are free, and nobody uses it");
    }

    private static int free(ServerProcess server) {
        try (ControlClient plane = ControlClient.connect(server.address())) {
            return plane.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
        }
    }

    private static void report(String what, List<Activity> all) {
        Activity slowest = all.stream()
                .max(Comparator.comparingLong(Activity::longestNanos))
                .orElseThrow();
        System.out.println("fault matrix: " + what + ": " + slowest);
    }

    // --- resources that are left ---

    /** The resources of this process, and the descriptors of the servers that are still running. */
    private record Resources(
            Map<String, Long> descriptors,
            Map<String, Long> mappings,
            Map<String, Long> threads,
            List<String> files,
            Map<Long, Map<String, Long>> ofServers) {

        boolean noMoreThan(Resources before) {
            return HeldResources.noMore(descriptors, before.descriptors)
                    && HeldResources.noMore(mappings, before.mappings)
                    && HeldResources.noMore(threads, before.threads)
                    && before.files.containsAll(files)
                    && ofServers.keySet().stream()
                            .allMatch(server -> total(ofServers.get(server))
                                    <= total(before.ofServers.get(server)) + SERVER_CONNECTIONS);
        }

        private static long total(Map<String, Long> descriptors) {
            return descriptors.values().stream().mapToLong(Long::longValue).sum();
        }

        /** These resources, but with no more descriptors of any server than before. */
        Resources withLeastOfServers(Resources before) {
            Map<Long, Map<String, Long>> least = new HashMap<>(ofServers);
            least.replaceAll((server, now) ->
                    total(now) <= total(before.ofServers.get(server)) ? now : before.ofServers.get(server));
            return new Resources(descriptors, mappings, threads, files, least);
        }
    }

    /**
     * A round leaves no more resources than the first one, which loads classes and starts threads that live as long as
     * their processes. Resources that the first round closed late make no room for resources that a later round leaves.
     *
     * @param before the most resources that there may be, or null
     * @return the most resources that there may be after the next round
     */
    private Resources checked(Resources before) throws InterruptedException {
        assertEquals(
                servers.stream().map(ServerProcess::pid).sorted().toList(),
                ProcessHandle.current()
                        .descendants()
                        .map(ProcessHandle::pid)
                        .sorted()
                        .toList(),
                "processes");
        if (before == null) {
            return settled();
        }
        Resources[] now = {null};
        await(
                () -> (now[0] = now()).noMoreThan(before),
                () -> "left over: now there is " + now[0] + ", and there was " + before);
        return now[0].withLeastOfServers(before);
    }

    /** The resources once they do not change any more: connections take some time to close. */
    private Resources settled() throws InterruptedException {
        Resources last = now();
        for (int same = 0; same < SETTLED; same++) {
            Thread.sleep(SETTLING_MILLIS);
            Resources next = now();
            same = next.equals(last) ? same : 0;
            last = next;
        }
        return last;
    }

    private Resources now() {
        return new Resources(
                HeldResources.descriptors(),
                HeldResources.sharedMappings(),
                HeldResources.threads(),
                ProcessResources.sharedMemoryFiles(),
                servers.stream()
                        .collect(Collectors.toMap(
                                ServerProcess::pid, server -> HeldResources.descriptors(server.pid()))));
    }
}
