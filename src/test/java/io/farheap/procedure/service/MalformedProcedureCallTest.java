package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.contract.Outcome;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Effort;
import io.farheap.thread.idle.Idle;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A client sends arbitrary bytes to a server of procedures: its call ends, and the other client's calls continue. */
@ParameterizedClass
@EnumSource(names = {"OFF", "ALWAYS"})
class MalformedProcedureCallTest {

    private static final long REGION = RawCalls.REGION;
    private static final int HOPS = 64 + 3;
    private static final int ADD = 128 + 4;
    private static final int SPIN = 192 + 5;
    private static final int FUZZED_CALLS = Effort.either(700, 2_000);

    private final RawCalls.Server server;
    private final RawCalls good;
    private final RawCalls bad;
    private long added;

    MalformedProcedureCallTest(CallInterleaving turns) {
        server = new RawCalls.Server(8, 1, Idle.BACK_OFF, turns);
        good = server.client(2);
        bad = server.client(2);
    }

    @BeforeEach
    void register() {
        for (RawCalls client : new RawCalls[] {good, bad}) {
            client.mapAll(1);
            assertEquals(1, client.in.get(JAVA_INT_UNALIGNED, 0));
            assertEquals(CallFormat.REGISTERED, client.register(HOPS, CallFormat.READS, Procs.file(Procs.Hops.class)));
            assertEquals(CallFormat.REGISTERED, client.register(ADD, 0, Procs.file(Procs.Add.class)));
        }
        assertWell();
    }

    @AfterEach
    void close() {
        assertWell();
        bad.close();
        good.close();
        server.close();
    }

    /** The other client's memory is unchanged, and its calls are executed. */
    private void assertWell() {
        assertEquals(CallStatus.DONE, good.call(ADD, REGION + 8, 3));
        assertEquals(added, good.result());
        added += 3;
        assertEquals(CallStatus.DONE, good.call(HOPS, REGION - 8, 2));
        assertEquals(0, good.result());
    }

    private void assertOwnWell() {
        assertEquals(CallStatus.DONE, bad.call(HOPS, 0, 3));
    }

    @Test
    void truncatedMessages() {
        for (int operation = CallFormat.REGISTER; operation <= CallFormat.RESUME; operation++) {
            int whole = bad.prepare(HOPS, 0, 2 * REGION, 0, 3);
            for (int length = 0; length < whole; length++) {
                bad.prepare(HOPS, 0, 2 * REGION, 0, 3);
                bad.send(operation, length);
                int said = bad.outcome == Outcome.DONE && bad.bytes >= 4 ? bad.in.get(JAVA_INT_UNALIGNED, 0) : -1;
                String what = "operation " + operation + ", " + length + " bytes";
                switch (operation) {
                    case CallFormat.REGISTER -> assertTrue(said == -1 || said == CallFormat.REFUSED, what);
                    case CallFormat.UNREGISTER -> assertEquals(length < 4 ? Outcome.FAILED : Outcome.DONE, bad.outcome);
                    case CallFormat.MAP -> assertEquals(Outcome.FAILED, bad.outcome, what);
                    // A message that ends within its arguments is a call with fewer arguments.
                    case CallFormat.CALL ->
                        assertTrue(
                                said == -1 && length < CallFormat.CALL_BYTES
                                        || said == CallStatus.OUT_OF_RANGE && length >= CallFormat.CALL_BYTES
                                        || said == CallStatus.REFUSED,
                                what + ": " + said);
                    default -> assertTrue(said == -1 || said == CallStatus.REFUSED, what + ": " + said);
                }
                if (operation == CallFormat.UNREGISTER && length >= 4) {
                    assertEquals(CallStatus.REFUSED, bad.call(HOPS, 0, 3));
                }
            }
            if (operation == CallFormat.UNREGISTER) {
                assertEquals(CallFormat.REGISTERED, bad.register(HOPS, 0, Procs.file(Procs.Hops.class)));
            }
            assertOwnWell();
        }
    }

    @Test
    void classFilesThatAreNone() {
        byte[] file = Procs.file(Procs.Hops.class);
        int[] lengths = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, CallFormat.MOST_CLASS_BYTES + 1};
        for (int length : lengths) {
            assertEquals(CallFormat.REFUSED, bad.piece(9, 0, length, 0, file));
            assertTrue(bad.text().contains("" + length), bad.text());
        }
        for (int at : new int[] {1, -1, file.length, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertEquals(CallFormat.REFUSED, bad.piece(9, 0, file.length, at, file));
        }
        // One byte more than announced; then a first piece, a piece after a gap, one of another id, one of another
        // length, and at last the right rest.
        assertEquals(CallFormat.REFUSED, bad.piece(9, 0, file.length - 1, 0, file));
        byte[] first = Arrays.copyOf(file, 100);
        byte[] rest = Arrays.copyOfRange(file, 100, file.length);
        assertEquals(CallFormat.MORE, bad.piece(9, 0, file.length, 0, first));
        assertEquals(CallFormat.REFUSED, bad.piece(9, 0, file.length, 200, first));
        assertEquals(CallFormat.REFUSED, bad.piece(10, 0, file.length, 100, rest));
        assertEquals(CallFormat.REFUSED, bad.piece(9, 0, file.length + 1, 100, rest));
        assertEquals(CallFormat.REGISTERED, bad.piece(9, 0, file.length, 100, rest));
        assertEquals(CallStatus.DONE, bad.call(9, 0, 1));
        // A class outside the subset, one that writes although it is registered as reading, and no class file.
        assertEquals(CallFormat.REFUSED, bad.register(10, 0, Procs.file(Procs.Allocates.class)));
        assertTrue(bad.text().contains("Allocates"), bad.text());
        assertEquals(CallFormat.REFUSED, bad.register(10, CallFormat.READS, Procs.file(Procs.Add.class)));
        assertEquals(CallFormat.REFUSED, bad.register(10, 0, new byte[1000]));
        assertEquals(CallStatus.REFUSED, bad.call(10, 0, 1));
        assertOwnWell();
    }

    @Test
    void tenRegistrationsASecond() {
        byte[] file = Procs.file(Procs.Hops.class);
        int refused = 0;
        for (int i = 0; i < 1000 && refused == 0; i++) {
            refused += bad.register(1, 0, file) == CallFormat.REFUSED ? 1 : 0;
        }
        assertEquals(1, refused);
        assertTrue(bad.text().contains("10 registrations in a second"), bad.text());
        // The limit is per lease: the other client may still register.
        assertEquals(CallFormat.REGISTERED, good.register(1, 0, file));
    }

    @Test
    void mapsThatAreNone() {
        assertEquals(-1, bad.map(2, -1, 0, 1));
        assertEquals(-1, bad.map(2, Integer.MAX_VALUE, 0, 1));
        assertEquals(-1, bad.map(2, 2, 1, 1));
        assertEquals(-1, bad.map(2, 2, -1, 1));
        assertEquals(-1, bad.map(2, 1, 0, 1, 2));
        assertEquals(0, bad.map(2, 2, 0, 0));
        assertEquals(-1, bad.map(3, 2, 1, 1));
        assertEquals(-1, bad.map(2, 3, 1, 1));
        for (int count : new int[] {-1, 3, 1 << 29, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            bad.out.set(JAVA_INT_UNALIGNED, 16, count);
            bad.send(CallFormat.MAP, CallFormat.MAP_BYTES + 8);
            assertEquals(Outcome.FAILED, bad.outcome, "a count of " + count);
        }
        assertEquals(0, bad.map(2, 1, 0));
        bad.send(CallFormat.MAP, CallFormat.MAP_BYTES, 3);
        assertEquals(Outcome.FAILED, bad.outcome, "no room for the reply");
        // None of these maps has taken effect.
        assertOwnWell();
        // A map may name regions of other leases, and numbers of no region: calls do not find them.
        for (int region = 0; region < 8; region++) {
            int wanted = region;
            boolean own = bad.regions.stream().anyMatch(mine -> mine.regionId() == wanted);
            assertEquals(1, bad.map(4, 2, 0, region, -7));
            assertEquals(own ? CallStatus.DONE : CallFormat.LEFT, bad.call(HOPS, 8, 1));
            assertEquals(CallFormat.LEFT, bad.call(HOPS, REGION, 1));
            assertEquals(REGION, bad.value());
        }
        assertEquals(1, bad.map(5, 2, 0, Integer.MAX_VALUE, 8));
        assertEquals(CallFormat.LEFT, bad.call(HOPS, 0, 1));
        assertEquals(1, bad.map(6, 0, 0));
        assertEquals(CallStatus.OUT_OF_RANGE, bad.call(HOPS, 0, 1));
        bad.mapAll(7);
        assertOwnWell();
    }

    /** Each message announces a map of the largest size, and contains none of its entries. */
    @Test
    void mapsThatNeverComeTakeNoMemory() {
        int maps = 512;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (RawCalls many =
                server.client(0, RpcOptions.DEFAULT.with(2, maps / 2).withRecordBytes(64))) {
            many.out.set(JAVA_LONG_UNALIGNED, 0, 1);
            many.out.set(JAVA_INT_UNALIGNED, 8, ServerOptions.MAX_REGIONS);
            many.out.set(JAVA_INT_UNALIGNED, 12, 0);
            many.out.set(JAVA_INT_UNALIGNED, 16, 0);
            long before = threads.getTotalThreadAllocatedBytes();
            for (int i = 0; i < maps; i++) {
                assertTrue(many.post(CallFormat.MAP, CallFormat.MAP_BYTES, 4, i), "map " + i);
            }
            many.queue().send();
            for (int ended = 0; ended < maps; ) {
                ended += many.queue().poll((tag, outcome, bytes) -> assertEquals(Outcome.DONE, outcome));
            }
            long each = (threads.getTotalThreadAllocatedBytes() - before) / maps;
            assertTrue(each < ServerOptions.MAX_REGIONS / 16, each + " bytes for each");
        }
    }

    @Test
    void callsWithFieldsThatAreWrong() {
        for (int id : new int[] {0, 3, HOPS + 64, HOPS - 64, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, SPIN}) {
            assertEquals(CallStatus.REFUSED, bad.call(id, 0, 1), "procedure " + id);
            assertEquals(CallStatus.NO_PROCEDURE, bad.reason(), "procedure " + id);
        }
        for (int capacity : new int[] {-1, Integer.MIN_VALUE, Call.RESULT_BYTES + 1, Integer.MAX_VALUE}) {
            int length = bad.prepare(HOPS, 0, REGION, 0, 1);
            bad.out.set(JAVA_INT_UNALIGNED, 4, capacity);
            bad.send(CallFormat.CALL, length);
            assertEquals(CallStatus.REFUSED, bad.status(), "room for " + capacity);
            assertEquals(CallStatus.MALFORMED, bad.reason(), "room for " + capacity);
        }
        int length = bad.prepare(HOPS, 0, REGION, 0, 1);
        bad.send(CallFormat.CALL, length, CallFormat.REPLY_BYTES + 7);
        assertEquals(CallStatus.REFUSED, bad.status(), "no room in the reply");
        bad.send(CallFormat.CALL, length, CallFormat.REPLY_BYTES - 1);
        assertEquals(Outcome.FAILED, bad.outcome);
        bad.send(CallFormat.CALL, length, 0);
        assertEquals(Outcome.FAILED, bad.outcome);
        bad.send(CallFormat.CALL, CallFormat.CALL_BYTES + Call.ARGUMENT_BYTES + 1);
        assertEquals(CallStatus.REFUSED, bad.status(), "too many arguments");
        long[] numbers = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 2 * REGION, 2 * REGION - 1, REGION + 1, 1L << 48};
        for (long number : numbers) {
            bad.send(CallFormat.CALL, bad.prepare(HOPS, number, REGION, 0, 1));
            assertEquals(CallStatus.OUT_OF_RANGE, bad.status(), "a footprint from " + number);
            bad.send(CallFormat.CALL, bad.prepare(HOPS, 8, number, 8, 1));
            assertEquals(
                    number == REGION + 1 ? CallStatus.DONE : CallStatus.OUT_OF_RANGE,
                    bad.status(),
                    "a footprint of " + number);
            bad.prepare(HOPS, 0, 2 * REGION, 0, 1);
            bad.out.set(JAVA_LONG_UNALIGNED, 24, number);
            bad.send(CallFormat.CALL, length);
            assertEquals(CallStatus.DONE, bad.status(), "an address to load first of " + number);
        }
        assertEquals(CallStatus.OUT_OF_RANGE, bad.call(HOPS, 2 * REGION, 1));
        assertEquals(CallStatus.SPLIT, bad.call(HOPS, REGION - 4, 1));
        assertOwnWell();
    }

    @Test
    void anotherLeasesProcedure() {
        assertEquals(CallFormat.REGISTERED, good.register(SPIN, CallFormat.READS, Procs.file(Procs.Spin.class)));
        assertEquals(CallStatus.DONE, good.call(SPIN, 1, 5));
        assertEquals(CallStatus.REFUSED, bad.call(SPIN, 1, 5));
        bad.unregister(SPIN);
        bad.unregister(ADD);
        assertEquals(CallStatus.DONE, good.call(SPIN, 1, 5));
    }

    /** A server runs the calls of all clients one after another in the same context. */
    @Test
    void noNumberOfAnothersCallIsInAReply() {
        long secret = 0x5ec3e75ec3e7L;
        assertEquals(1, good.map(2, 2, 0, good.regions.getFirst().regionId(), -1));
        assertEquals(1, bad.map(2, 2, 0, bad.regions.getFirst().regionId(), -1));
        assertEquals(CallFormat.LEFT, good.call(ADD, REGION + 8, secret));
        // Its footprint is beyond its map.
        bad.send(CallFormat.CALL, bad.prepare(HOPS, 0, 3 * REGION, 0, 1));
        assertEquals(CallStatus.OUT_OF_RANGE, bad.status());
        assertEquals(-1, bad.value(), "an address that was another's");
        assertEquals(CallFormat.LEFT, good.call(ADD, REGION + 8, secret));
        assertEquals(CallFormat.LEFT, bad.call(HOPS, REGION, 1));
        ByteBuffer context = ByteBuffer.wrap(bad.context()).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at + 8 <= context.capacity(); at += 4) {
            long word = context.getLong(at);
            assertTrue(word != secret && word != REGION + 8, "another's number at " + at + " of a context");
        }
        good.mapAll(3);
        bad.mapAll(3);
    }

    /** A suspended call of {@link Procs.Hops}: at its first hop it met a region that is not in its map. */
    private byte[] suspended() {
        assertEquals(1, bad.map(10, 2, 0, bad.regions.getFirst().regionId(), -1));
        bad.send(CallFormat.CALL, bad.prepare(HOPS, 0, 2 * REGION, REGION, 5));
        assertEquals(CallFormat.LEFT, bad.status());
        assertEquals(REGION, bad.value());
        byte[] context = bad.context();
        bad.mapAll(11);
        return context;
    }

    @Test
    void aSuspendedCallGoesOnAndAForgedOneDoesNoHarm() {
        byte[] context = suspended();
        bad.header(HOPS, 8, 0, 2 * REGION, -1);
        assertEquals(CallStatus.DONE, bad.resume(context));
        assertEquals(0, bad.result());
        // The context of another procedure, no context, one that is too short, and one that is too long.
        bad.header(ADD, 8, 0, 2 * REGION, -1);
        assertEquals(CallStatus.REFUSED, bad.resume(context));
        assertEquals(CallStatus.FOREIGN_CONTEXT, bad.reason());
        bad.header(HOPS, 8, 0, 2 * REGION, -1);
        assertEquals(CallStatus.REFUSED, bad.resume(new byte[0]));
        assertEquals(CallStatus.REFUSED, bad.resume(Arrays.copyOf(context, context.length - 8)));
        assertEquals(CallStatus.REFUSED, bad.resume(Arrays.copyOf(context, context.length + 8)));
        int[] words = {-1, 1, 7, 1 << 12, 1 << 13, Integer.MAX_VALUE, Integer.MIN_VALUE};
        int refused = 0;
        for (int at = 0; at < context.length; at += 4) {
            for (int word : words) {
                byte[] forged = context.clone();
                ByteBuffer.wrap(forged).order(ByteOrder.LITTLE_ENDIAN).putInt(at, word);
                bad.header(HOPS, 8, 0, 2 * REGION, -1);
                int status = bad.resume(forged);
                assertTrue(
                        status >= CallStatus.DONE && status <= CallStatus.REFUSED,
                        "a context with " + word + " at " + at + " ended as " + status);
                refused += status == CallStatus.REFUSED ? 1 : 0;
            }
        }
        assertTrue(refused > 30, refused + " were refused");
        // A context states the fuel used so far: at the limit the call ends, and a negative number is refused.
        byte[] forged = context.clone();
        ByteBuffer.wrap(forged).order(ByteOrder.LITTLE_ENDIAN).putLong(8, CallFormat.FUEL_LIMIT);
        bad.header(HOPS, 8, 0, 2 * REGION, -1);
        assertEquals(CallStatus.OUT_OF_FUEL, bad.resume(forged));
        ByteBuffer.wrap(forged).order(ByteOrder.LITTLE_ENDIAN).putLong(8, -1);
        assertEquals(CallStatus.REFUSED, bad.resume(forged));
        assertOwnWell();
    }

    private static long number(SplittableRandom random) {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextInt(-3, 70);
            case 2 -> random.nextLong(2 * REGION + 16);
            case 3 -> new int[] {HOPS, ADD, SPIN}[random.nextInt(3)];
            case 4 -> 1L << random.nextInt(64);
            default -> 0;
        };
    }

    /** Each message gets some reply; the other client's memory and procedures stay unchanged. */
    @Test
    void randomMessages() {
        long seed = Long.getLong("farheap.seed", System.nanoTime());
        System.out.println("messages of seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        byte[] context = suspended();
        for (int i = 0; i < FUZZED_CALLS; i++) {
            int operation = CallFormat.REGISTER + random.nextInt(5);
            int length = random.nextInt(random.nextInt(20) == 0 ? CallFormat.RECORD_BYTES : 160);
            for (int at = 0; at + 4 <= length; at += 4) {
                bad.out.set(JAVA_INT_UNALIGNED, at, (int) number(random));
            }
            if (random.nextBoolean()) {
                bad.header(HOPS, random.nextInt(9), number(random), number(random), number(random));
            }
            if (operation == CallFormat.RESUME && random.nextInt(3) > 0) {
                byte[] forged = context.clone();
                forged[random.nextInt(forged.length)] = (byte) random.nextInt();
                bad.header(HOPS, 8, 0, 2 * REGION, number(random));
                bad.resume(forged);
            } else {
                bad.send(operation, length, random.nextInt(4) == 0 ? random.nextInt(64) : CallFormat.RECORD_BYTES);
            }
            assertNotEquals(Outcome.UNKNOWN, bad.outcome, "the connection has ended; seed " + seed);
            if (i % 64 == 0) {
                assertWell();
            }
        }
    }

    /** A refused call has not run, although earlier calls were still running when it came. */
    @Test
    @Timeout(300)
    void whatIsRefusedHasNotRun() {
        int all = LeaseProcedures.MOST_CALLS + 256;
        RpcOptions many = RpcOptions.DEFAULT.with(all / 16, 16).withRecordBytes(64);
        try (RawCalls flooding = server.client(1, many)) {
            register(flooding, SPIN, Procs.AddThenSpin.class);
            register(flooding, ADD, Procs.Add.class);
            flooding.mapAll(1);
            for (int i = 0; i < all; i++) {
                int length = flooding.prepare(SPIN, 8L * i, 8, 8L * i, 50_000);
                assertTrue(flooding.post(CallFormat.CALL, length, 24, i), "call " + i);
            }
            flooding.queue().send();
            boolean[] done = new boolean[all];
            int[] ended = new int[1];
            while (ended[0] < all) {
                assertFalse(Thread.interrupted(), "there are calls that do not end");
                flooding.queue().poll((tag, outcome, bytes) -> {
                    ended[0]++;
                    // The reply to a refused call has no result.
                    done[(int) tag] = bytes > CallFormat.REPLY_BYTES;
                });
            }
            int refused = 0;
            for (int i = 0; i < all; i++) {
                assertEquals(CallStatus.DONE, flooding.call(ADD, 8L * i, 0));
                assertEquals(done[i] ? 1 : 0, flooding.result(), "what call " + i + " has added");
                refused += done[i] ? 0 : 1;
            }
            assertTrue(refused > 0, "none was refused");
        }
    }

    /** Registers a class in pieces, since this client's records are short. */
    private static void register(RawCalls client, int id, Class<?> type) {
        byte[] file = Procs.file(type);
        for (int at = 0; at < file.length; at += 40) {
            client.piece(id, 0, file.length, at, Arrays.copyOfRange(file, at, Math.min(file.length, at + 40)));
        }
    }

    /** Calls beyond a lease's limit are refused; running calls end with their connection. */
    @Test
    void tooManyCalls() {
        int most = LeaseProcedures.MOST_CALLS + 256;
        RpcOptions many = RpcOptions.DEFAULT.with(most / 16, 16).withRecordBytes(64);
        try (RawCalls flooding = server.client(1, many)) {
            register(flooding, SPIN, Procs.Spin.class);
            flooding.mapAll(1);
            int length = flooding.prepare(SPIN, 0, REGION, -1, 0);
            int[] refused = new int[1];
            int[] ended = new int[1];
            for (int i = 0; i < most; i++) {
                assertTrue(flooding.post(CallFormat.CALL, length, 24, i), "call " + i);
            }
            flooding.queue().send();
            while (refused[0] == 0) {
                flooding.queue().poll((tag, outcome, bytes) -> {
                    ended[0]++;
                    refused[0] += flooding.in.get(JAVA_INT_UNALIGNED, 0) == CallStatus.REFUSED ? 1 : 0;
                });
                assertTrue(ended[0] < most, "none was refused");
            }
            assertWell();
        }
        // Its calls have ended with it: the server is idle, and another lease has as many as before.
        assertWell();
    }
}
