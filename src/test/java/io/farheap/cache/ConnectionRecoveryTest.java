package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A session's connection fails while its server lives: it comes back, and each request ends with what is known of it.
 * Operations are late where a test needs them on their way.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("ways")
@Needs(Need.LATE_OPERATIONS)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConnectionRecoveryTest {

    /** A delay that no test waits for. */
    private static final long LATE_SECONDS = 60;

    private static final long OTHER = Cluster.REGION_BYTES;

    @Parameter
    private CacheConfiguration configuration;

    /** Calls to the first server that destroy an end, or make one, wait for this. */
    private volatile CountDownLatch fence = new CountDownLatch(0);

    /** The end of the lease on the first server: that it is asked for, and what it waits for. */
    private final CountDownLatch leaseEnds = new CountDownLatch(1);

    private volatile CountDownLatch lease = new CountDownLatch(0);

    private final AtomicInteger connects = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger fences = new AtomicInteger();
    private final AtomicInteger lostAnswers = new AtomicInteger();
    private final AtomicBoolean refuses = new AtomicBoolean();

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;
    private final List<String> ended = new ArrayList<>();

    static Stream<CacheConfiguration> ways() {
        return Stream.of(Configurations.DIRECT, Configurations.HANDED_OVER, Configurations.BATCHED);
    }

    @BeforeEach
    void create() {
        cluster = new Cluster()
                .behind(server -> PlaneProxy.around(server, (method, arguments, rest) -> {
                    boolean ends = method.equals("disconnect");
                    if (ends || method.equals("connect")) {
                        fence.await();
                        if (refuses.get()) {
                            refused.incrementAndGet();
                            throw new ControlException(ControlException.Code.UNAVAILABLE, "not now");
                        }
                    }
                    if (method.startsWith("connect")) {
                        connects.incrementAndGet();
                    }
                    if (method.equals("closeLease")) {
                        leaseEnds.countDown();
                        lease.await();
                    }
                    Object answer = rest.call();
                    if (ends) {
                        fences.incrementAndGet();
                        if (lostAnswers.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                            throw new ControlException(ControlException.Code.UNAVAILABLE, "the answer is lost");
                        }
                    }
                    return answer;
                }));
        cluster.add(4);
        cluster.behind(server -> server).add(4);
        open(Duration.ofHours(1), 1);
    }

    private void open(Duration patience, int doorbellBatch) {
        cache = Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .configuration(configuration)
                .patience(patience)
                .doorbellBatch(doorbellBatch)
                .create();
        session = cache.openSession();
        buffer = cache.allocate(4096);
        assertEquals(cluster.address(0), cache.serverOf(0));
        assertEquals(cluster.address(1), cache.serverOf(1));
    }

    @AfterEach
    void close() {
        LateOperations.no();
        refuses.set(false);
        fence.countDown();
        lease.countDown();
        cache.close();
        cluster.close();
    }

    private void late() {
        LateOperations.by(LATE_SECONDS, TimeUnit.SECONDS);
    }

    private void read(String name, long address) {
        assertTrue(session.read(address, buffer, 0, 8, (_, status) -> end(name, status), 0));
    }

    private void write(String name, long address, long value) {
        int at = 8 * (int) value;
        buffer.segment().set(JAVA_LONG, at, value);
        assertTrue(session.write(address, buffer, at, 8, (_, status) -> end(name, status), 0));
    }

    private void end(String name, int status) {
        ended.add(name + " "
                + (status == Status.OK ? "ok" : status == Status.UNKNOWN ? "unknown" : Status.describe(status)));
    }

    /** Fails the connection to the first server, on which this number of requests are on their way. */
    private void fail(int requests) {
        session.flush();
        SessionFaults.awaitTaken(session, requests);
        LateOperations.no();
        SessionFaults.failConnection(session.core(), 0);
    }

    /** How many ends the session has at a server. */
    private int ends() {
        return configuration.batched() ? 2 : 1;
    }

    private long valueAt(long address) {
        session.readBlocking(address, buffer, 2048, 8);
        return buffer.segment().get(JAVA_LONG, 2048);
    }

    private void awaitEnded(int count) {
        while (ended.size() < count) {
            session.awaitProgress();
        }
    }

    @Test
    void aReadThatWasOnItsWayIsRepeatedUnseen() {
        buffer.segment().set(JAVA_LONG, 8, 5);
        session.writeBlocking(0, buffer, 8, 8);
        late();
        read("read", 0);
        fail(1);
        session.drain();
        assertEquals(List.of("read ok"), ended);
        assertEquals(5, buffer.segment().get(JAVA_LONG, 0));
        assertEquals(ends(), fences.get());
    }

    @Test
    void whatIsIssuedAfterTheFailureWaitsForTheConnection() {
        fail(0);
        buffer.segment().set(JAVA_LONG, 0, 6);
        session.writeBlocking(0, buffer, 0, 8);
        assertEquals(6, valueAt(0));
    }

    @Test
    void aBlockingReadThatFailsIsRepeatedIntoItsPlace() {
        buffer.segment().set(JAVA_LONG, 8, 5);
        session.writeBlocking(0, buffer, 8, 8);
        SessionFaults.failConnection(session.core(), 0);
        assertEquals(5, valueAt(0));
    }

    @Test
    void aWriteThatWasOnItsWayEndsBehindTheFence() {
        late();
        write("write", 0, 1);
        fence = new CountDownLatch(1);
        fail(1);
        read("behind", 0);
        read("beside", 64);
        write("other", OTHER, 2);
        awaitEnded(1);
        assertEquals(List.of("other ok"), ended);
        session.poll();
        assertEquals(List.of("other ok"), ended, "nothing ends before the fence");
        fence.countDown();
        session.drain();
        assertEquals(4, ended.size());
        assertTrue(ended.indexOf("write unknown") < ended.indexOf("behind ok"), ended.toString());
        assertTrue(ended.contains("beside ok"), ended.toString());
        assertEquals(0, valueAt(0), "a late operation of a connection that failed does nothing");
    }

    /** The session takes what has failed on a connection after another thread has closed that connection. */
    @Test
    void whatFailedOnAConnectionThatIsClosedIsRepeatedElsewhere() {
        buffer.segment().set(JAVA_LONG, 8, 5);
        session.writeBlocking(0, buffer, 8, 8);
        late();
        for (int i = 0; i < 3; i++) {
            read("read", 0);
        }
        fail(3);
        cache.retire(cluster.address(0), moved -> {});
        session.drain();
        assertEquals(List.of("read ok", "read ok", "read ok"), ended);
        assertEquals(5, buffer.segment().get(JAVA_LONG, 0));
    }

    @Test
    void noConnectionIsMadeToAServerThatTheCacheHasLeft() throws Exception {
        assertEquals(0, valueAt(0));
        late();
        read("read", 0);
        fail(1);
        lease = new CountDownLatch(1);
        CompletableFuture<Void> leaving =
                CompletableFuture.runAsync(() -> cache.retire(cluster.address(0), moved -> {}));
        leaseEnds.await();
        int before = connects.get();
        session.drain();
        assertEquals(0, valueAt(0));
        lease.countDown();
        leaving.get();
        assertEquals(List.of("read ok"), ended);
        assertEquals(before, connects.get());
    }

    /** The session's own next attempt is not due for long, but a migration, for example, has connected it. */
    @Test
    void aConnectionThatAnotherThreadMadeIsUsedAtOnce() {
        RemoteServer server = ((RegionCache) cache).table().get(0).copy().server();
        refuses.set(true);
        fail(0);
        write("write", 0, 1);
        session.flush();
        while (refused.get() < 6) {
            session.poll();
        }
        refuses.set(false);
        SessionFaults.posting(session.core()).participant.ensureConnected(server);
        if (SessionFaults.posting(session.core()) == session.core()) {
            late();
            session.poll();
            LateOperations.no();
            assertEquals(1, SessionFaults.oneSidedInFlight(session.core(), 0));
            SessionFaults.failConnection(session.core(), 0);
        }
        session.drain();
        assertEquals(1, ended.size());
    }

    /** One request waits for its server; half of all requests is the most that a request for many records may have. */
    @Test
    void aRequestForManyRecordsElsewhereDoesNotWait() {
        refuses.set(true);
        fail(0);
        write("waits", 0, 1);
        int records = configuration.batched() ? 128 : 256;
        long[] addresses = new long[records];
        for (int i = 0; i < records; i++) {
            addresses[i] = OTHER + 8L * i;
        }
        while (!session.readAll(addresses, records, buffer, 2048, 8, (_, status) -> end("many", status), 0)) {
            session.poll();
        }
        while (ended.isEmpty()) {
            session.poll();
        }
        assertEquals(List.of("many ok"), ended);
        refuses.set(false);
        session.drain();
        assertEquals(List.of("many ok", "waits ok"), ended);
    }

    @Test
    void theFenceIsAskedForUntilItsAnswerComes() {
        lostAnswers.set(3);
        late();
        write("write", 0, 1);
        fail(1);
        session.drain();
        assertEquals(List.of("write unknown"), ended);
        assertTrue(fences.get() > 3, fences + " fences, of which the answers of three were lost");
        assertEquals(0, valueAt(0));
    }

    /** The next connection fails before the session has heard that it was made. */
    @Test
    void aWriteThatWasOnItsWayOnTheNextConnectionEndsToo() {
        late();
        write("first", 0, 1);
        fail(1);
        SessionFaults.awaitFailure(session.core(), 0);
        session.poll();
        SessionFaults.awaitConnected(session.core(), 0);
        late();
        write("second", 64, 2);
        fail(1);
        SessionFaults.awaitFailure(session.core(), 0);
        session.drain();
        assertEquals(2, ended.size());
        assertTrue(ended.contains("first unknown"), ended.toString());
        assertEquals(0, valueAt(0));
    }

    /**
     * In batched mode a write that waits in an open batch is moved to the one-sided path, before a later one that is
     * issued once another thread has replaced both connections.
     */
    @Test
    void aWriteThatWasNotSentIsNotAppliedAfterALaterOne() {
        int large = (int) OTHER / 2;
        try (Buffer much = cache.allocate(large)) {
            assertEquals(0, valueAt(0));
            late();
            assertTrue(session.read(OTHER - large, much, 0, large, (_, status) -> end("large", status), 0));
            write("first", 0, 1);
            if (!configuration.batched()) {
                session.flush();
            }
            SessionFaults.awaitTaken(session, 2);
            LateOperations.no();
            SessionFaults.failOneSided(session.core(), 0);
            SessionFaults.awaitFailure(session.core(), 0);
            session.poll();
            SessionFaults.awaitConnected(session.core(), 0);
            write("second", 0, 2);
            session.drain();
            assertEquals(3, ended.size());
            assertTrue(ended.contains("large ok") && ended.contains("second ok"), ended.toString());
            assertTrue(ended.contains("first " + (configuration.batched() ? "ok" : "unknown")), ended.toString());
            assertEquals(2, valueAt(0));
        }
    }

    /** It waits in a list, or in a batch, when its region moves, and the later one goes to the region's new place. */
    @Test
    void aWriteThatWasNotPostedIsNotAppliedAfterALaterOneElsewhere() {
        session.close();
        cache.close();
        open(Duration.ofHours(1), 4);
        assertEquals(0, valueAt(0));
        write("first", 0, 1);
        SessionFaults.failConnection(session.core(), 0);
        cache.migrate(0, cluster.address(1));
        write("second", 0, 2);
        session.flush();
        session.drain();
        assertEquals(2, ended.size());
        assertTrue(ended.contains("second ok"), ended.toString());
        assertEquals(2, valueAt(0));
    }

    @Test
    void anAtomicThatWasOnItsWayEndsAsUnknown() {
        late();
        boolean entered = session.core().admission.enter();
        assertTrue(session.core()
                .admission
                .path()
                .issueAtomic(false, 0, 1, 0, buffer, buffer.address(), (_, status) -> end("add", status), 0));
        session.core().admission.exit(entered);
        fail(1);
        session.drain();
        assertEquals(List.of("add unknown"), ended);
        assertEquals(0, valueAt(0));
    }

    @Test
    void aListThatWasOnItsWayEndsAsAWhole() {
        // With a known route, records that are batched are added to a batch together.
        assertEquals(0, valueAt(0));
        long[] addresses = {0, 1024, 2048};
        late();
        assertTrue(session.writeAll(addresses, 3, buffer, 0, 8, (_, status) -> end("list", status), 0));
        write("within", 1024, 1);
        fail(2);
        session.drain();
        assertEquals(List.of("list unknown", "within unknown"), ended);
    }

    /** In a batch each record is known by itself, so a read can be repeated; a list is one request. */
    @Test
    void readsOfManyRecordsAreRepeatedIfTheyWereInABatch() {
        buffer.segment().set(JAVA_LONG, 8, 5);
        session.writeBlocking(1024, buffer, 8, 8);
        assertEquals(5, valueAt(1024));
        long[] addresses = {0, 1024};
        late();
        assertTrue(session.readAll(addresses, 2, buffer, 64, 8, (_, status) -> end("list", status), 0));
        fail(1);
        session.drain();
        if (configuration.batched()) {
            assertEquals(List.of("list ok"), ended);
            assertEquals(0, buffer.segment().get(JAVA_LONG, 64));
            assertEquals(5, buffer.segment().get(JAVA_LONG, 72));
        } else {
            assertEquals(List.of("list " + Status.describe(Status.UNREACHABLE)), ended);
        }
    }

    /** The server refuses connections for longer than the cache is patient. */
    @Test
    void whatCannotBeSentInTimeIsUnreachable() {
        session.close();
        cache.close();
        open(Duration.ZERO, 1);
        refuses.set(true);
        late();
        read("sent", 0);
        fail(1);
        session.drain();
        assertEquals(List.of("sent " + Status.describe(Status.UNREACHABLE)), ended);
        CacheException refused = assertThrows(CacheException.class, () -> session.writeBlocking(0, buffer, 0, 8));
        assertEquals(Status.UNREACHABLE, refused.status());
        session.writeBlocking(OTHER, buffer, 0, 8);
        refuses.set(false);
        while (true) {
            try {
                session.readBlocking(0, buffer, 0, 8);
                break;
            } catch (CacheException e) {
                assertEquals(Status.UNREACHABLE, e.status());
            }
        }
        assertEquals(0, buffer.segment().get(JAVA_LONG, 0));
    }

    @Test
    void requestsThatWaitEndWithTheirSession() {
        refuses.set(true);
        late();
        read("sent", 0);
        fail(1);
        write("not sent", 64, 1);
        long[] addresses = {128, 256};
        assertTrue(session.writeAll(addresses, 2, buffer, 8, 8, (_, status) -> end("many", status), 0));
        session.close();
        assertEquals(3, ended.size());
        for (String each : ended) {
            assertTrue(each.endsWith(Status.describe(Status.CLOSED)), each);
        }
    }

    @Test
    void aPatienceThatIsNoneIsRefused() {
        CacheBuilder builder = Cache.builder();
        for (Duration wrong : List.of(Duration.ofNanos(-1), Duration.ofDays(2))) {
            String why = assertThrows(IllegalArgumentException.class, () -> builder.patience(wrong))
                    .getMessage();
            assertTrue(why.contains("from 0 to 24 hours"), why);
        }
        assertSame(builder, builder.patience(Duration.ofDays(1)));
    }
}
