package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.farheap.cache.SoftverbsFaults;
import io.farheap.connection.Connection;
import io.farheap.remote.Tags.Tag;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.remote.queue.QueueConnections;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@org.junit.jupiter.api.Tag("optimised")
class RemoteQueueTest {

    private static final long R = TestServers.REGION_BYTES;

    private TestServers servers;
    private RemoteMemory memory;
    private final List<RemoteServer> attached = new ArrayList<>();
    private final List<RemoteRegion> regions = new ArrayList<>();
    private RemoteQueue queue;
    private RegisteredBuffer buffer;
    private final Tags tags = new Tags();

    @BeforeEach
    void open() {
        servers = new TestServers(2, 2);
        memory = RemoteMemory.open(TestDevice.client(), "test");
        for (int i = 0; i < servers.count(); i++) {
            attached.add(memory.attach(servers.address(i)));
            regions.addAll(memory.allocate(attached.get(i), 1));
        }
        queue = memory.openQueue(new QueueOptions(16, 24, 64));
        buffer = memory.register(R);
    }

    @AfterEach
    void close() {
        memory.close();
        servers.close();
    }

    private void put(long at, long value) {
        buffer.segment().set(JAVA_LONG, at, value);
    }

    private long get(long at) {
        return buffer.segment().get(JAVA_LONG, at);
    }

    private void ok(int posting) {
        assertEquals("posted", PostResult.describe(posting));
    }

    @Test
    void whatIsWrittenIsReadAndAtomicsSayWhatWasThere() {
        put(0, 42);
        ok(queue.write(regions.get(0), 800, buffer, 0, 8, 1));
        tags.await(queue, 1);
        ok(queue.compareAndSwap(regions.get(0), 800, 42, 43, buffer, 8, Long.MIN_VALUE));
        ok(queue.compareAndSwap(regions.get(0), 800, 42, 44, buffer, 16, -1));
        ok(queue.fetchAndAdd(regions.get(0), 800, 7, buffer, 24, Long.MAX_VALUE));
        ok(queue.read(regions.get(0), 800, buffer, 32, 8, 5));
        assertEquals(
                List.of(
                        Tags.done(1),
                        Tags.done(Long.MIN_VALUE),
                        Tags.done(-1),
                        Tags.done(Long.MAX_VALUE),
                        Tags.done(5)),
                tags.await(queue, 5));
        assertEquals(List.of(42L, 43L, 43L, 50L), List.of(get(8), get(16), get(24), get(32)));
        assertEquals(new VerbCounts(1, 1, 2, 1, 8, 8, 5), queue.posted());
    }

    /** Each tag is returned once, whatever else the handler tries when it takes its tag. */
    private void tagsComeOnceThough(Runnable tried) {
        for (long tag = 0; tag < 8; tag++) {
            ok(queue.read(regions.get((int) tag % 2), 0, buffer, 8 * tag, 8, tag));
        }
        List<Long> handed = new ArrayList<>();
        while (handed.size() < 8) {
            queue.poll((tag, outcome) -> {
                handed.add(tag);
                tried.run();
            });
        }
        assertEquals(8, handed.stream().distinct().count());
        assertEquals(0, queue.inFlight());
    }

    @Test
    void aHandlerThatPollsOrClosesIsRefusedAndAllTagsComeBackOnce() {
        tagsComeOnceThough(() -> {
            assertThrows(IllegalStateException.class, () -> queue.poll((again, as) -> fail("handed twice: " + again)));
            assertThrows(IllegalStateException.class, queue::close);
        });
        ok(queue.read(regions.get(0), 0, buffer, 0, 8, 9));
        tags.await(queue, 1);
    }

    /** Either would take the completions that the poll is just handling. */
    @Test
    void aHandlerThatDisconnectsOrReconnectsIsRefusedAndAllTagsComeBackOnce() {
        tagsComeOnceThough(() -> {
            assertThrows(IllegalStateException.class, () -> queue.disconnect(attached.get(0), 100));
            assertThrows(IllegalStateException.class, () -> queue.reconnect(attached.get(1), 101));
        });
        assertTrue(queue.connected(attached.get(0)));
        assertTrue(queue.connected(attached.get(1)));
        queue.reconnect(attached.get(0), 9);
        assertEquals(List.of(Tags.done(9)), tags.await(queue, 1));
    }

    @Test
    void oneListHasOperationsOfAllKindsToSeveralServers() {
        queue.beginList();
        for (int server = 0; server < 2; server++) {
            put(server * 64L, 100 + server);
            ok(queue.write(regions.get(server), 0, buffer, server * 64L, 8, server * 10L));
            ok(queue.fetchAndAdd(regions.get(server), 0, 5, buffer, server * 64L + 8, server * 10L + 1));
            ok(queue.compareAndSwap(
                    regions.get(server), 0, 105 + server, -1, buffer, server * 64L + 16, server * 10L + 2));
            ok(queue.read(regions.get(server), 0, buffer, server * 64L + 24, 8, server * 10L + 3));
        }
        assertEquals(0, queue.posted().doorbells());
        queue.postList();
        assertEquals(2, queue.posted().doorbells());
        tags.await(queue, 8);
        for (int server = 0; server < 2; server++) {
            int which = server;
            assertEquals(
                    List.of(which * 10L, which * 10L + 1, which * 10L + 2, which * 10L + 3),
                    tags.all.stream()
                            .map(Tag::tag)
                            .filter(tag -> tag / 10 == which)
                            .toList(),
                    "in posting order per server");
            assertEquals(100 + server, get(server * 64L + 8));
            assertEquals(105 + server, get(server * 64L + 16));
            assertEquals(-1, get(server * 64L + 24));
        }
    }

    @Test
    void aWriteDoesNotOvertakeWhatReadsTheSameWord() {
        writeBehindReads(500);
    }

    /** A device that executes in order would not show a missing fence, so this one executes in weak order. */
    @Test
    @Needs(Need.SOFTVERBS)
    void aWriteDoesNotOvertakeOnADeviceThatLetsIt() {
        Softverbs.set("order=weak");
        try {
            writeBehindReads(100);
        } finally {
            Softverbs.set("order=strict");
        }
    }

    private void writeBehindReads(int rounds) {
        for (int round = 0; round < rounds; round++) {
            put(0, round);
            put(8, -1 - round);
            ok(queue.write(regions.get(0), 0, buffer, 0, 8, 0));
            queue.beginList();
            ok(queue.fetchAndAdd(regions.get(0), 0, 0, buffer, 16, 1));
            ok(queue.read(regions.get(0), 0, buffer, 24, 8, 2));
            ok(queue.write(regions.get(0), 0, buffer, 8, 8, 3));
            ok(queue.read(regions.get(0), 0, buffer, 32, 8, 4));
            queue.postList();
            tags.await(queue, 5 * (round + 1));
            assertEquals(List.of((long) round, (long) round, -1L - round), List.of(get(16), get(24), get(32)));
        }
    }

    /** A READ that returned the sum of a later fetch-and-add of its queue would have seen the future. */
    @Test
    @Needs(Need.SOFTVERBS)
    void anAtomicDoesNotOvertakeAReadOnADeviceThatLetsIt() {
        Softverbs.set("order=weak");
        try {
            for (int round = 0; round < 100; round++) {
                boolean listed = round % 2 == 0;
                if (listed) {
                    queue.beginList();
                }
                ok(queue.read(regions.get(0), 0, buffer, 16, 8, 0));
                ok(queue.fetchAndAdd(regions.get(0), 0, 1, buffer, 24, 1));
                ok(queue.read(regions.get(0), 0, buffer, 32, 8, 2));
                ok(queue.compareAndSwap(regions.get(0), 0, 2L * round + 1, 2L * round + 2, buffer, 40, 3));
                if (listed) {
                    queue.postList();
                }
                tags.await(queue, 4 * (round + 1));
                assertEquals(
                        List.of(2L * round, 2L * round, 2L * round + 1, 2L * round + 1),
                        List.of(get(16), get(24), get(32), get(40)));
            }
        } finally {
            Softverbs.set("order=strict");
        }
    }

    /** So a client can change one word, and then another, in one list: the second is never seen without the first. */
    @Test
    @Needs(Need.SOFTVERBS)
    void atomicsOfDifferentWordsTakeEffectInPostingOrder() {
        Softverbs.set("order=weak");
        try (RemoteQueue other = memory.openQueue(QueueOptions.DEFAULT)) {
            Tags seen = new Tags();
            for (int round = 0; round < 200; round++) {
                queue.beginList();
                ok(queue.compareAndSwap(regions.get(0), 0, round, round + 1, buffer, 16, 0));
                ok(queue.compareAndSwap(regions.get(0), 64, round, round + 1, buffer, 24, 1));
                queue.postList();
                queue.poll(tags);
                ok(other.read(regions.get(0), 64, buffer, 32, 8, 0));
                ok(other.read(regions.get(0), 0, buffer, 40, 8, 1));
                seen.await(other, 2 * (round + 1));
                assertTrue(get(40) >= get(32), "the second word was changed before the first");
                tags.await(queue, 2 * (round + 1));
            }
        } finally {
            Softverbs.set("order=strict");
        }
    }

    /** So a client can write an object, and say with a word where it is, in one list. */
    @Test
    @Needs(Need.SOFTVERBS)
    void anAtomicTakesEffectBehindAWriteThatWasPostedBefore() {
        Softverbs.set("order=weak");
        try (RemoteQueue other = memory.openQueue(QueueOptions.DEFAULT)) {
            Tags seen = new Tags();
            for (int round = 0; round < 200; round++) {
                put(16, round + 1);
                queue.beginList();
                ok(queue.write(regions.get(0), 0, buffer, 16, 8, 0));
                ok(queue.compareAndSwap(regions.get(0), 64, round, round + 1, buffer, 24, 1));
                queue.postList();
                queue.poll(tags);
                ok(other.read(regions.get(0), 64, buffer, 32, 8, 0));
                seen.await(other, 2 * round + 1);
                ok(other.read(regions.get(0), 0, buffer, 40, 8, 1));
                seen.await(other, 2 * (round + 1));
                assertTrue(get(40) >= get(32), "the word was changed before the WRITE");
                tags.await(queue, 2 * (round + 1));
            }
        } finally {
            Softverbs.set("order=strict");
        }
    }

    @Test
    void badRangesAreRefusedBeforeTheDeviceSeesThem() throws Exception {
        RemoteRegion region = regions.get(0);
        for (long[] bad : new long[][] {
            {-1, 0, 8},
            {R - 7, 0, 8},
            {R, 0, 1},
            {0, -1, 8},
            {0, R - 7, 8},
            {0, 0, 0},
            {0, 0, -1},
            {Long.MAX_VALUE, 0, 8},
            {0, Long.MAX_VALUE, 8},
            {0, 0, Integer.MAX_VALUE}
        }) {
            assertEquals(PostResult.INVALID, queue.read(region, bad[0], buffer, bad[1], (int) bad[2], 0));
            assertEquals(PostResult.INVALID, queue.write(region, bad[0], buffer, bad[1], (int) bad[2], 0));
            assertEquals(PostResult.INVALID, queue.execute(true, region, bad[0], buffer, bad[1], (int) bad[2], 0));
        }
        for (long[] bad : new long[][] {{4, 0}, {0, 4}, {R - 4, 0}, {-8, 0}, {0, -8}, {R, 0}}) {
            assertEquals(PostResult.INVALID, queue.fetchAndAdd(region, bad[0], 1, buffer, bad[1], 0));
            assertEquals(PostResult.INVALID, queue.compareAndSwap(region, bad[0], 0, 1, buffer, bad[1], 0));
        }
        try (RemoteMemory other = RemoteMemory.open(TestDevice.client(), "other");
                RegisteredBuffer foreign = other.register(64)) {
            assertEquals(PostResult.INVALID, queue.read(region, 0, foreign, 0, 8, 0));
        }
        assertEquals(0, queue.inFlight());
        assertEquals(new VerbCounts(0, 0, 0, 0, 0, 0, 0), queue.posted());
    }

    @Test
    void aFullQueueSaysSoForItsServerAndForAll() {
        int taken = 0;
        while (queue.read(regions.get(0), 0, buffer, 0, 8, taken) == PostResult.OK) {
            taken++;
        }
        assertEquals(16, taken);
        assertEquals(0, queue.room(attached.get(0)));
        assertEquals(8, queue.room(attached.get(1)));
        while (queue.read(regions.get(1), 0, buffer, 0, 8, taken) == PostResult.OK) {
            taken++;
        }
        assertEquals(24, taken);
        assertEquals(PostResult.FULL, queue.fetchAndAdd(regions.get(1), 0, 1, buffer, 0, 0));
        tags.await(queue, taken);
        assertEquals(16, queue.room(attached.get(0)));
        ok(queue.read(regions.get(0), 0, buffer, 0, 8, 0));
        tags.await(queue, taken + 1);
    }

    @Test
    void executeIsOneCallOrAnOrdinaryOperation() {
        put(0, 77);
        int posting = queue.execute(true, regions.get(0), 8, buffer, 0, 8, 1);
        int expected = posting == PostResult.DONE ? 0 : 1;
        tags.await(queue, expected);
        assertEquals(77, readBack(regions.get(0), 8));
        int before = tags.all.size();
        ok(queue.read(regions.get(1), 0, buffer, 8, 8, 2));
        ok(queue.execute(false, regions.get(0), 8, buffer, 16, 8, 3));
        tags.await(queue, before + 2);
        assertEquals(77, get(16));
    }

    private long readBack(RemoteRegion region, long offset) {
        int before = tags.all.size();
        ok(queue.read(region, offset, buffer, R - 8, 8, 99));
        assertEquals(Tags.done(99), tags.await(queue, before + 1).getLast());
        return get(R - 8);
    }

    @Test
    void anErrorAtOneServerFailsNoOthersAndReconnectingMendsIt() {
        RemoteRegion mine = regions.get(0);
        RemoteRegion given = memory.allocate(attached.get(0), 1).getFirst();
        memory.release(given);
        given.usable(true);
        put(0, 5);
        queue.beginList();
        ok(queue.write(mine, 0, buffer, 0, 8, 1));
        ok(queue.write(given, 0, buffer, 0, 8, 2));
        ok(queue.write(mine, 8, buffer, 0, 8, 3));
        ok(queue.write(regions.get(1), 0, buffer, 0, 8, 4));
        queue.postList();
        tags.await(queue, 4);
        assertTrue(tags.all.contains(Tags.done(1)), tags.all::toString);
        assertTrue(tags.all.contains(new Tag(2, Outcome.REFUSED)), tags.all::toString);
        assertTrue(tags.all.contains(new Tag(3, Outcome.UNKNOWN)), tags.all::toString);
        assertTrue(tags.all.contains(Tags.done(4)), tags.all::toString);
        assertEquals(PostResult.LOST, queue.write(mine, 0, buffer, 0, 8, 5));
        assertFalse(queue.connected(attached.get(0)));
        assertEquals(5, readBack(regions.get(1), 0));
        queue.reconnect(attached.get(0), 6);
        assertEquals(Tags.done(6), tags.await(queue, 6).getLast());
        assertEquals(5, readBack(mine, 0));
        assertEquals(0, readBack(mine, 8));
        assertEquals(0, queue.inFlight());
    }

    /** The queue holds only its current connections, however many it has had. */
    @Test
    void connectionsThatWereReplacedAreForgotten() {
        for (int round = 0; round < 40; round++) {
            ok(queue.read(regions.get(0), 0, buffer, 0, 8, 2L * round));
            ok(queue.write(regions.get(1), 0, buffer, 0, 8, 1000));
            queue.reconnect(attached.get(0), 2L * round + 1);
            assertTrue(tags.await(queue, 3 * (round + 1)).contains(Tags.done(2L * round + 1)));
        }
        put(0, 7);
        ok(queue.write(regions.get(0), 0, buffer, 0, 8, 2000));
        tags.await(queue, 121);
        assertEquals(7, readBack(regions.get(0), 0));
        Connection[] held =
                Fields.get(Fields.get(queue, "connections", QueueConnections.class), "byNumber", Connection[].class);
        assertTrue(held.length <= 8, held.length + " connections are held after 40 to one server");
        assertEquals(0, queue.inFlight());
    }

    /** The server's number may belong to another server by then. */
    @Test
    void whatWasMadeToAServerThatHasBeenLeftIsNotUsed() {
        RemoteServer left = attached.get(0);
        queue.reconnect(left, 1);
        while (!queue.links().hasNews()) {
            Thread.onSpinWait();
        }
        memory.detach(left);
        RemoteServer again = memory.attach(servers.address(0));
        memory.connectQueues(again);
        RemoteRegion region = memory.allocate(again, 1).getFirst();
        assertEquals(new Tag(1, Outcome.UNREACHABLE), tags.await(queue, 1).getLast());
        assertFalse(queue.connected(left));
        put(0, 7);
        ok(queue.write(region, 0, buffer, 0, 8, 2));
        assertEquals(Tags.done(2), tags.await(queue, 2).getLast());
        assertEquals(7, readBack(region, 0));
    }

    @Test
    void whatStandsInAListWhenItsConnectionFailsIsNotPosted() {
        RemoteRegion given = memory.allocate(attached.get(0), 1).getFirst();
        memory.release(given);
        given.usable(true);
        ok(queue.read(given, 0, buffer, 0, 8, 1));
        queue.beginList();
        ok(queue.write(regions.get(0), 0, buffer, 0, 8, 2));
        tags.await(queue, 1);
        queue.postList();
        tags.await(queue, 2);
        assertEquals(List.of(new Tag(1, Outcome.REFUSED), new Tag(2, Outcome.NOT_POSTED)), tags.all);
    }

    @Test
    void disconnectingFencesAndTagsComeBack() {
        for (int i = 0; i < 8; i++) {
            ok(queue.read(regions.get(0), 0, buffer, 0, 8, i));
        }
        queue.disconnect(attached.get(0), 100);
        tags.await(queue, 9);
        assertEquals(
                Tags.done(100),
                tags.all.stream().filter(tag -> tag.tag() == 100).findFirst().orElseThrow());
        assertEquals(8, tags.all.stream().filter(tag -> tag.tag() < 8).count());
        assertEquals(PostResult.LOST, queue.read(regions.get(0), 0, buffer, 0, 8, 0));
    }

    @Test
    void aServerThatEndsTakesOnlyItsOwnOperationsAlong() {
        servers.stop(0);
        int before = 0;
        while (queue.read(regions.get(0), 0, buffer, 0, 8, before) == PostResult.OK && before < 4) {
            before++;
            tags.await(queue, before);
        }
        assertTrue(tags.all.stream().noneMatch(tag -> tag.outcome() == Outcome.DONE), tags.all::toString);
        assertEquals(0, readBack(regions.get(1), 0));
        queue.reconnect(attached.get(0), 1000);
        assertEquals(
                new Tag(1000, Outcome.UNREACHABLE),
                tags.await(queue, tags.all.size() + 1).getLast());
    }

    @Test
    void anotherThreadDrainsAndTheOwnerGetsItsTags() throws InterruptedException {
        for (int i = 0; i < 16; i++) {
            ok(queue.write(regions.get(0), 8L * i, buffer, 0, 8, i));
        }
        Thread migration = new Thread(() -> {
            queue.claim();
            try {
                if (!queue.drain(regions.get(0))) {
                    throw new AssertionError("the connection has failed");
                }
            } finally {
                queue.unclaim();
            }
            while (!drained()) {
                Thread.onSpinWait();
            }
        });
        migration.start();
        migration.join();
        assertEquals(16, tags.await(queue, 16).size());
        for (int i = 0; i < 16; i++) {
            assertEquals(Tags.done(i), tags.all.get(i));
        }
    }

    /** The drain's flush has a completion of its own, which a blocking operation of the owner must not swallow. */
    @Test
    @Needs(Need.SOFTVERBS)
    void aDrainEndsWhileTheOwnerExecutesAndDoesNotPoll() {
        ok(queue.write(regions.get(0), 0, buffer, 0, 8, 1));
        SoftverbsFaults.delayOperations(50_000_000);
        try {
            onAnotherThread(() -> {
                queue.claim();
                assertTrue(queue.drain(regions.get(0)));
                queue.unclaim();
            });
        } finally {
            SoftverbsFaults.delayOperations(0);
        }
        tags.await(queue, 1);
        Connection drained = Fields.get(queue, "connections", QueueConnections.class)
                .to(attached.get(0).index());
        int posting;
        do {
            posting = queue.execute(false, regions.get(1), 0, buffer, 8, 8, 2);
        } while (posting == PostResult.DONE && drained.flushing());
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(10));
        onAnotherThread(() -> {
            while (!drained()) {
                assertTrue(System.nanoTime() - deadline < 0, "it waits for the owner's poll");
                Thread.onSpinWait();
            }
        });
    }

    private boolean drained() {
        queue.claim();
        try {
            return queue.drained(regions.get(0));
        } finally {
            queue.unclaim();
        }
    }

    @Test
    void anExceptionOfAHandlerLosesNoTag() {
        for (int i = 0; i < 10; i++) {
            ok(queue.read(regions.get(0), 0, buffer, 0, 8, i));
        }
        List<Long> seen = new ArrayList<>();
        while (seen.size() < 10) {
            try {
                queue.poll((tag, outcome) -> {
                    seen.add(tag);
                    throw new IllegalStateException("of the application");
                });
            } catch (IllegalStateException e) {
                assertEquals("of the application", e.getMessage());
            }
        }
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L), seen);
        assertEquals(0, queue.inFlight());
    }

    @Test
    void buffersAndRegionsInUseAreNotClosed() {
        // The READ waits in the list to be posted, so it has not ended.
        queue.beginList();
        ok(queue.read(regions.get(0), 0, buffer, 0, 8, 1));
        assertThrows(IllegalStateException.class, () -> onAnotherThread(buffer::close));
        assertThrows(IllegalStateException.class, () -> onAnotherThread(() -> memory.release(regions.get(0))));
        queue.postList();
        tags.await(queue, 1);
        int free = servers.freeRegions(0);
        memory.release(regions.get(0));
        assertEquals(free + 1, servers.freeRegions(0));
        assertEquals(PostResult.INVALID, queue.read(regions.get(0), 0, buffer, 0, 8, 2));
        buffer.close();
        buffer.close();
        assertEquals(PostResult.INVALID, queue.read(regions.get(1), 0, buffer, 0, 8, 3));
    }

    /** The owner's thread may not poll for long, so a release takes ended operations into account itself. */
    @Test
    void whatHasEndedAndIsNotPolledHoldsUpNoRelease() {
        ok(queue.write(regions.get(0), 0, buffer, 0, 8, 1));
        ok(queue.read(regions.get(0), 0, buffer, 8, 8, 2));
        int free = servers.freeRegions(0);
        releaseOnAnotherThread(regions.get(0));
        assertEquals(free + 1, servers.freeRegions(0));
        assertEquals(2, queue.inFlight());
        // The owner reads the buffer's bytes when the tags are returned.
        assertThrows(IllegalStateException.class, () -> onAnotherThread(buffer::close));
        ok(queue.read(regions.get(1), 0, buffer, 16, 8, 3));
        tags.await(queue, 3);
        assertTrue(tags.all.containsAll(List.of(Tags.done(1), Tags.done(2), Tags.done(3))), tags.all::toString);
    }

    private void releaseOnAnotherThread(RemoteRegion region) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (true) {
            try {
                onAnotherThread(() -> memory.release(region));
                return;
            } catch (IllegalStateException e) {
                assertTrue(System.nanoTime() - deadline < 0, "what has ended counts as in use");
            }
        }
    }

    /** A failed operation may still take effect until the server's end of its connection is fenced. */
    @Test
    void whatHasFailedAndIsNotPolledHoldsUpARelease() {
        RemoteRegion given = memory.allocate(attached.get(0), 1).getFirst();
        memory.release(given);
        given.usable(true);
        queue.beginList();
        ok(queue.write(given, 0, buffer, 0, 8, 1));
        ok(queue.write(regions.get(0), 0, buffer, 0, 8, 2));
        queue.postList();
        assertThrows(IllegalStateException.class, () -> onAnotherThread(() -> memory.release(regions.get(0))));
        tags.await(queue, 2);
        memory.release(regions.get(0));
    }

    /** Another thread fences for the owner, which does not poll. */
    @Test
    void anotherThreadFencesWhatTheOwnerHasPosted() {
        RemoteRegion given = memory.allocate(attached.get(0), 1).getFirst();
        memory.release(given);
        given.usable(true);
        queue.beginList();
        ok(queue.write(given, 0, buffer, 0, 8, 1));
        ok(queue.write(regions.get(0), 0, buffer, 0, 8, 2));
        queue.postList();
        assertThrows(IllegalStateException.class, () -> onAnotherThread(() -> memory.release(regions.get(0))));
        onAnotherThread(() -> queue.fence(attached.get(0)).join());
        onAnotherThread(() -> memory.release(regions.get(0)));
        assertEquals(PostResult.LOST, queue.read(given, 0, buffer, 0, 8, 3));
        assertEquals(
                List.of(new Tag(1, Outcome.REFUSED), new Tag(2, Outcome.UNKNOWN)), List.copyOf(tags.await(queue, 2)));
        queue.reconnect(attached.get(0), 4);
        assertEquals(Tags.done(4), tags.await(queue, 3).getLast());
        assertTrue(queue.connected(attached.get(0)));
    }

    private static void onAnotherThread(Runnable action) {
        Throwable[] thrown = new Throwable[1];
        Thread thread = Thread.ofPlatform()
                .uncaughtExceptionHandler((ignored, e) -> thrown[0] = e)
                .start(action);
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        switch (thrown[0]) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new AssertionError(thrown[0]);
        }
    }

    @Test
    void memoryOfOthersIsRegistered() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment own = arena.allocate(4096, 4096);
            try (RegisteredBuffer registered = memory.register(own)) {
                own.set(JAVA_LONG, 8, 9);
                ok(queue.write(regions.get(0), 0, registered, 8, 8, 1));
                tags.await(queue, 1);
            }
            own.set(JAVA_LONG, 0, 1);
        }
        assertEquals(9, readBack(regions.get(0), 0));
        assertThrows(IllegalArgumentException.class, () -> memory.register(MemorySegment.ofArray(new long[8])));
    }

    @Test
    void aSleepingOwnerIsWokenByACompletion() {
        for (int i = 1; i <= 200; i++) {
            ok(queue.read(regions.get(0), 0, buffer, 0, 8, i));
            while (queue.poll(tags) == 0) {
                queue.await(60_000_000_000L);
            }
        }
        assertEquals(200, tags.all.size());
    }

    @Test
    void operationsAllocateNothing() {
        long[] counted = new long[1];
        CompletionHandler count = (tag, outcome) -> counted[0]++;
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        // The compilers may allocate on this thread's behalf in early rounds.
        for (int round = 0; round < 20 && least > 0; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1_000; i++) {
                queue.beginList();
                queue.write(regions.get(0), 0, buffer, 0, 8, i);
                queue.fetchAndAdd(regions.get(0), 0, 1, buffer, 8, i);
                queue.postList();
                queue.read(regions.get(1), 0, buffer, 16, 8, i);
                queue.compareAndSwap(regions.get(1), 0, 0, 0, buffer, 24, i);
                while (queue.inFlight() > 0) {
                    queue.await(0);
                    queue.poll(count);
                }
                if (queue.execute(false, regions.get(0), 0, buffer, 32, 8, i) == PostResult.OK) {
                    while (queue.inFlight() > 0) {
                        queue.poll(count);
                    }
                }
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least, "bytes allocated by 5,000 operations");
    }

    /**
     * Every tag is returned once, in order for each server, and a READ sees the value that the queue's earlier
     * operations left in each word.
     */
    @Test
    void randomOperationsDoWhatAModelSays() {
        long seed = Long.getLong("farheap.seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        RandomOperations operations = new RandomOperations(random, queue, regions, buffer);
        assertEquals(
                List.of(),
                operations.run(Effort.count(20_000)),
                "seed " + seed + "; repeat with -Dfarheap.seed=" + seed);
    }
}
