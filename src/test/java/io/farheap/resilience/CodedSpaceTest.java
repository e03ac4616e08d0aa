package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.Slab;
import io.farheap.testing.CutFile;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.thread.ThreadJoiner;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A space from its creation to its end: reads return the written bytes, also after servers end; slabs come back. */
class CodedSpaceTest {

    private static final int PAGE = 4096;

    private static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    private static void write(CodedSession session, long address, byte[] bytes) {
        assertEquals(
                "ok",
                CodedStatus.describe(session.writeBlocking(address, MemorySegment.ofArray(bytes), 0, bytes.length)));
    }

    private static byte[] read(CodedSession session, long address, int length) {
        byte[] bytes = new byte[length];
        assertEquals(
                "ok", CodedStatus.describe(session.readBlocking(address, MemorySegment.ofArray(bytes), 0, length)));
        return bytes;
    }

    @Test
    void pagesAreReadAsTheyWereWritten() {
        try (CodedServers servers = new CodedServers(6, 2);
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), 4 * CodedServers.REGION_BYTES);
                CodedSession session = space.openSession()) {
            assertEquals(4 * CodedServers.REGION_BYTES, space.capacity());
            MemorySegment readOnly = MemorySegment.ofArray(new byte[PAGE]).asReadOnly();
            assertThrows(IllegalArgumentException.class, () -> session.readBlocking(0, readOnly, 0, PAGE));
            assertEquals(0, session.pending());
            assertArrayEquals(new byte[PAGE], read(session, 0, PAGE));
            for (int page = 0; page < space.capacity() / PAGE; page++) {
                write(session, (long) page * PAGE, bytes(PAGE, page));
            }
            for (int page = 0; page < space.capacity() / PAGE; page++) {
                assertArrayEquals(bytes(PAGE, page), read(session, (long) page * PAGE, PAGE), "page " + page);
            }
        }
    }

    /** The JVM reports an access beyond the file's end as an {@link InternalError}. */
    @Test
    void aMappedFileThatWasCutIsGone(@TempDir Path directory) throws IOException {
        try (CodedServers servers = new CodedServers(6, 2);
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), CodedServers.REGION_BYTES);
                CodedSession session = space.openSession();
                CutFile file = new CutFile(directory, PAGE)) {
            MemorySegment cut = file.segment();
            file.cut();
            write(session, 0, bytes(PAGE, 1));
            for (int length : new int[] {64, PAGE}) {
                assertEquals(CodedStatus.SEGMENT_GONE, session.writeBlocking(0, cut, 0, length));
                assertEquals(CodedStatus.SEGMENT_GONE, session.readBlocking(0, cut, 0, length));
                assertEquals(0, session.pending());
            }
            assertArrayEquals(bytes(PAGE, 1), read(session, 0, PAGE));
            write(session, 0, bytes(PAGE, 2));
            assertArrayEquals(bytes(PAGE, 2), read(session, 0, PAGE));
        }
    }

    @Test
    void anyTwoServersMayDieAndTheirSlabsComeBack() {
        try (CodedServers servers = new CodedServers(8, 4);
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), 8 * CodedServers.REGION_BYTES);
                CodedSession session = space.openSession()) {
            byte[] all = bytes((int) space.capacity(), 1);
            write(session, 0, all);
            for (int round = 0; round < 2; round++) {
                List<RemoteServer> used = space.serversOf(0);
                servers.kill(servers.indexOf(used.get(round)));
                servers.kill(servers.indexOf(used.get(4)));
                assertArrayEquals(all, read(session, 0, all.length), "round " + round);
                byte[] page = bytes(PAGE, 100 + round);
                System.arraycopy(page, 0, all, round * PAGE, PAGE);
                write(session, (long) round * PAGE, page);
                assertArrayEquals(all, read(session, 0, all.length), "round " + round);
                if (round == 0) {
                    write(session, 0, all);
                    CodedServers.await("all slabs are good", () -> servers.whole(space));
                    assertArrayEquals(all, read(session, 0, all.length), "after regeneration");
                }
            }
            assertTrue(space.health().regenerated() >= 2, () -> space.health().toString());
        }
    }

    @Test
    void whereMoreThanParityDieItIsLostAndNotGuessed() {
        try (CodedServers servers = new CodedServers(6, 2, TestDevice.patience(3_000_000_000L));
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE);
                CodedSession session = space.openSession()) {
            write(session, 0, bytes(PAGE, 1));
            for (int i = 0; i < 3; i++) {
                servers.kill(i);
            }
            byte[] bytes = new byte[PAGE];
            assertEquals(CodedStatus.LOST, session.readBlocking(0, MemorySegment.ofArray(bytes), 0, PAGE));
            assertEquals(CodedStatus.LOST, session.writeBlocking(0, MemorySegment.ofArray(bytes), 0, PAGE));
            assertEquals(-1, space.health().mayLose());
        }
    }

    @Test
    void ecOnlyPromisesNoLoss() {
        try (CodedServers servers = new CodedServers(6, 2);
                CodedSpace space = servers.space(Resilience.ecOnly(4, 2), PAGE)) {
            assertEquals(0, space.health().mayLose());
        }
    }

    @Test
    void aServerThatNobodyAskedAnythingIsMissedToo() {
        try (CodedServers servers = new CodedServers(6, 2, TestDevice.patience(1_000_000_000L));
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE)) {
            Slab slab = space.slab(0, 3);
            servers.kill(servers.indexOf(slab.region().server()));
            CodedServers.await("its slab is void", () -> {
                // A health that reports a server as lost must report no slab of it as good.
                Health health = space.health();
                int slabs = health.servers().stream()
                        .filter(server -> !server.lost())
                        .mapToInt(Health.Server::slabs)
                        .sum();
                assertEquals(health.goodSlabs(), slabs, health::toString);
                return slab.isVoid();
            });
        }
    }

    @Test
    void sessionsAreOpenedAndClosedBeforeTheirSpaceIs() {
        try (CodedServers servers = new CodedServers(6, 2);
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE)) {
            CodedSession session = space.openSession();
            assertEquals(
                    "1 sessions of the space are open; close them first, and then the space",
                    thrownBy(space::close).getMessage());
            write(session, 0, bytes(PAGE, 1));
            session.close();
            space.close();
            assertEquals(
                    "the space is closed; sessions are opened before",
                    thrownBy(space::openSession).getMessage());
        }
    }

    /** Only the server of the void slab has room. */
    @Test
    void aSlabIsRegeneratedWhereItsPredecessorWas() {
        try (CodedServers servers = new CodedServers(6, 1);
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE)) {
            for (int split = 0; split < 6; split++) {
                long before = split;
                space.giveUp(space.slab(0, split));
                CodedServers.await(
                        "the slab is regenerated", () -> space.health().regenerated() > before);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theBackgroundOutlivesWhatTheUsersFunctionThrows(boolean error) {
        AtomicBoolean throwing = new AtomicBoolean();
        AtomicBoolean thrown = new AtomicBoolean();
        Function<RemoteServer, String> domains = server -> {
            if (throwing.get()) {
                thrown.set(true);
                if (error) {
                    throw new OutOfMemoryError("injected");
                }
                throw new UnsupportedOperationException("no domain");
            }
            return server.address();
        };
        try (CodedServers servers = new CodedServers(7, 2);
                CodedSpace space = CodedSpace.create(servers.memory, Resilience.failureRecovery(4, 2), PAGE, domains)) {
            throwing.set(true);
            space.giveUp(space.slab(0, 1));
            CodedServers.await("the function throws", thrown::get);
            throwing.set(false);
            CodedServers.await("the slab is regenerated", () -> space.health().regenerated() == 1);
        }
    }

    @Test
    void healthCountsAllSlabsAtOneTime() {
        try (CodedServers servers = new CodedServers(7, 4);
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), 2 * CodedServers.REGION_BYTES)) {
            AtomicBoolean enough = new AtomicBoolean();
            Thread doubter = Thread.ofPlatform().daemon().start(() -> {
                for (int i = 0; !enough.get(); i++) {
                    // A slab that was given up during each regeneration would never be good again.
                    Slab slab = space.slab(0, i % 6);
                    if (slab.isGood()) {
                        space.giveUp(slab);
                    }
                }
            });
            try {
                CodedServers.await("so many slabs are regenerated", () -> {
                    Health health = space.health();
                    int onServers = health.servers().stream()
                            .mapToInt(Health.Server::slabs)
                            .sum();
                    assertEquals(health.slabs(), onServers + health.voidSlabs(), health::toString);
                    assertTrue(health.rebuildingSlabs() >= 0, health::toString);
                    return health.regenerated() >= Effort.count(100);
                });
            } finally {
                enough.set(true);
                ThreadJoiner.join(doubter);
            }
        }
    }

    @Test
    void aSessionIsClosedWhateverCallbacksThrow() {
        try (CodedServers servers = new CodedServers(6, 2);
                CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE);
                CodedSession other = space.openSession()) {
            CodedSession session = space.openSession();
            AtomicReference<Throwable> fromCallback = new AtomicReference<>();
            MemorySegment page = MemorySegment.ofArray(bytes(PAGE, 1));
            session.write(0, page, 0, PAGE, (token, status) -> fromCallback.set(thrownBy(session::close)), 1);
            session.drain();
            assertEquals(
                    "close from a callback; close once it has returned",
                    fromCallback.get().getMessage());
            for (int i = 0; i < 3; i++) {
                int number = i;
                session.write(
                        0,
                        page,
                        0,
                        PAGE,
                        (token, status) -> {
                            throw new UnsupportedOperationException("callback " + number);
                        },
                        2);
            }
            Throwable thrown = thrownBy(session::close);
            assertEquals("callback 0", thrown.getMessage());
            assertEquals(2, thrown.getSuppressed().length);
            // The closed session no longer holds the page's word.
            write(other, 0, bytes(PAGE, 2));
            session.close();
        }
    }

    private static Throwable thrownBy(Executable call) {
        return assertThrows(RuntimeException.class, call);
    }
}
