package io.farheap.bench.procedure;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.machine.FirstCore;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.bench.report.Validity;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Procedure;
import io.farheap.cache.Procedures;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.RangeResult;
import io.farheap.command.Sizes;
import io.farheap.thread.Cores;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the time of a range whose words are summed up, over one server and over two that have a half each; in turns.
 *
 * <p>Client and servers spin, so two servers need three cores. On fewer, the time over two servers is computed: the
 * longer of the two halves, each measured while the other server has no calls, and in addition the time of as many
 * empty calls as a half has, as if the client handled those of one server after those of the other.
 *
 * <p><b>What the computed time leaves out.</b> A range at one server has all of its calls under way there, and each
 * server of two has half as many. So each half is measured with twice as many under way as it would have; a half has
 * several times as many pieces, unless it is small, so that its calls are refilled as those of the whole range are. The
 * row says how many are under way.
 */
final class RangeScaling {

    /** Client and two servers. */
    private static final int CORES = 3;

    private static final long MOST_PIECE = 2 << 20;
    /** Several times as many as are under way. */
    private static final int PIECES_OF_A_HALF = 256;
    /** The calls of a range that are under way at one server if it has all of them. */
    private static final int MOST_UNDER_WAY = 64;

    private static final int RESULT_AT = 64;
    private static final int LEAST_WARM_UPS = 4;
    private static final int MOST_WARM_UPS = 20;

    private final FirstCore core;
    private final BenchReport report;
    private final PrintStream out;
    private final ModelLateness late;
    private final Cache one;
    private final Cache two;
    private final Procedure sum;
    private final Procedure halves;
    private final Procedure empty;

    /**
     * @param one has all regions on one server
     * @param two has the first of its two regions on that server and the second on another
     */
    RangeScaling(FirstCore core, BenchReport report, PrintStream out, ModelLateness late, Cache one, Cache two) {
        this.core = core;
        this.report = report;
        this.out = out;
        this.late = late;
        this.one = one;
        this.two = two;
        sum = one.procedures().register(RangeSumProcedure.class, Procedures.READS);
        halves = two.procedures().register(RangeSumProcedure.class, Procedures.READS);
        empty = two.procedures().register(EmptyProcedure.class, Procedures.READS);
    }

    /** Whether there are cores for a client and two servers that spin. */
    static boolean hasCores() {
        return Cores.near("").size() >= CORES;
    }

    /**
     * Adds a row for one server and one for two.
     *
     * @param turns that count
     */
    void run(int turns, long turnNanos) {
        boolean computed = !hasCores();
        core.run(() -> run(turns, turnNanos, computed));
    }

    private void run(int turns, long turnNanos, boolean computed) {
        long half = two.regionBytes();
        long piece = piece(half);
        try (CacheSession ofOne = one.openSession();
                CacheSession ofTwo = two.openSession();
                Buffer buffer = one.allocate(4096);
                Buffer other = two.allocate(4096)) {
            fill(ofOne, buffer, 2 * half);
            fill(ofTwo, other, 2 * half);
            long sumOfHalf = sumOfFill(half, buffer.bytes());
            List<Turns.Side<RuntimeException>> sides = new ArrayList<>();
            sides.add(turn -> p50(turnNanos, ofOne, sum, buffer, 0, 2 * half, piece, 2 * sumOfHalf));
            if (computed) {
                sides.add(turn -> p50(turnNanos, ofTwo, halves, other, 0, half, piece, sumOfHalf));
                sides.add(turn -> p50(turnNanos, ofTwo, halves, other, half, half, piece, sumOfHalf));
                sides.add(turn -> p50(turnNanos, ofTwo, empty, other, 0, half, piece, 0));
            } else {
                sides.add(turn -> p50(turnNanos, ofTwo, halves, other, 0, 2 * half, piece, 2 * sumOfHalf));
            }
            TurnWarmUp warmUp = new TurnWarmUp(
                    sides.size(),
                    LEAST_WARM_UPS * turnNanos * sides.size() / 2,
                    MOST_WARM_UPS * turnNanos * sides.size() / 2,
                    System::nanoTime);
            Turns taken = Turns.take(sides, warmUp, turns, late::restart);
            put(taken, late.validity(), 2 * half, computed);
        }
    }

    /** Returns the time over two servers, by that of each half and of as many empty calls. */
    static double computed(double first, double second, double empty) {
        return Math.max(first, second) + empty;
    }

    private static long piece(long half) {
        return Math.min(MOST_PIECE, Math.max(1024, half / PIECES_OF_A_HALF));
    }

    private static void fill(CacheSession session, Buffer buffer, long bytes) {
        for (long i = 0; i < buffer.bytes(); i += Long.BYTES) {
            buffer.segment().set(JAVA_LONG, i, i);
        }
        for (long at = 0; at < bytes; at += buffer.bytes()) {
            session.writeBlocking(at, buffer, 0, Math.min(buffer.bytes(), bytes - at));
        }
    }

    /** Returns the sum of the words of a filled range, whose length is a multiple of the buffer's. */
    static long sumOfFill(long bytes, long bufferBytes) {
        long words = bufferBytes / Long.BYTES;
        return bytes / bufferBytes * (words * (words - 1) / 2 * Long.BYTES);
    }

    private static double p50(
            long nanos,
            CacheSession session,
            Procedure procedure,
            Buffer buffer,
            long from,
            long bytes,
            long piece,
            long expected) {
        return ChaseCost.p50(nanos, null, true, () -> {
            RangeResult ended = session.callRangeBlocking(
                    procedure, from, bytes, piece, buffer, 0, 0, RESULT_AT, Long.BYTES, CallResult.SUM);
            if (!ended.done()) {
                throw new IllegalStateException("a range ended as " + ended.describe());
            }
            long joined = buffer.segment().get(JAVA_LONG, RESULT_AT);
            if (joined != expected) {
                throw new IllegalStateException("a range has the sum " + joined + ", not " + expected);
            }
        });
    }

    private void put(Turns turns, Validity validity, long span, boolean computed) {
        double alone = turns.of(0).median();
        double first = turns.of(1).median();
        double second = computed ? turns.of(2).median() : Double.NaN;
        double empty = computed ? turns.of(3).median() : Double.NaN;
        double both = computed ? computed(first, second, empty) : first;
        double ratio = validity.compared(alone / both);
        out.printf(
                "%nrange over %s: one server %,.1f us, two %,.1f us; one/two %.2f %s%n",
                Sizes.format(span), alone / 1e3, both / 1e3, ratio, validity.remark(turns.settled()));
        if (computed) {
            out.printf(
                    "computed: half of the range on each server %,.1f and %,.1f us, as many empty calls %,.1f us%n",
                    first / 1e3, second / 1e3, empty / 1e3);
        }
        putRow(turns, validity, span, 1, alone, false)
                .put("ratio_one", Double.NaN)
                .put("under_way_each", MOST_UNDER_WAY);
        putRow(turns, validity, span, 2, both, computed)
                .put("ratio_one", ratio)
                .put("under_way_each", computed ? MOST_UNDER_WAY : MOST_UNDER_WAY / 2)
                .put("first_half_us", computed ? first / 1e3 : Double.NaN)
                .put("second_half_us", second / 1e3)
                .put("empty_calls_us", empty / 1e3);
    }

    private BenchReport.Row putRow(
            Turns turns, Validity validity, long span, long servers, double nanos, boolean computed) {
        BenchReport.Row row = report.row()
                .put("op", "range")
                .put("servers", servers)
                .put("span", span)
                .put("piece", piece(span / 2))
                .put("range_p50_us", nanos / 1e3);
        return validity.put(row, turns.settled()).put("computed", computed);
    }
}
