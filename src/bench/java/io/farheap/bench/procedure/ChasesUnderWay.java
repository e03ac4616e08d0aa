package io.farheap.bench.procedure;

import io.farheap.bench.machine.FirstCore;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Turns;
import io.farheap.bench.report.Validity;
import io.farheap.cache.Cache;
import io.farheap.cache.Procedure;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.command.Sizes;
import java.io.PrintStream;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Measures the rate of chases by calls and by READs with {@value ChaseLoad#CHASES} of them under way, beside the time
 * of one: READs that overlap hide their round trips, so a ratio of times tells nothing about rates. The sides take
 * turns.
 */
final class ChasesUnderWay {

    /** Each call travels as soon as it is issued, with others of its session that are issued by then. */
    private static final CacheConfiguration CALLS =
            CacheConfiguration.DIRECT.with(0, 1, ChaseLoad.CHASES / ChaseLoad.SESSIONS, 4);

    private static final CacheConfiguration READS =
            CacheConfiguration.DIRECT.withQueueDepth(ChaseLoad.CHASES / ChaseLoad.SESSIONS);

    /** Of both sides: the client's thread, and the server's, which READs leave idle. */
    private static final SideSetup SETUP = new SideSetup(0, 2, ChaseLoad.CHASES, 1);

    private final FirstCore core;
    private final BenchReport report;
    private final ModelLateness late;
    private final PutOffCalls putOff;
    private final Cache cache;
    private final PointerChains chains;
    private final Procedure hops;
    private final PrintStream out;
    private final SplittableRandom random = new SplittableRandom(5);

    ChasesUnderWay(
            FirstCore core,
            BenchReport report,
            PrintStream out,
            ModelLateness late,
            PutOffCalls putOff,
            Cache cache,
            PointerChains chains,
            Procedure hops) {
        this.putOff = putOff;
        this.core = core;
        this.report = report;
        this.out = out;
        this.late = late;
        this.cache = cache;
        this.chains = chains;
        this.hops = hops;
    }

    /**
     * Adds a row for each depth.
     *
     * @param turns that count
     */
    void run(List<Integer> depths, long span, int turns, long turnNanos) {
        out.printf(
                "%nchases over %s, %d under way in %d sessions, and one at a time%n%6s%14s%14s%26s%14s%14s%12s%n",
                Sizes.format(span),
                ChaseLoad.CHASES,
                ChaseLoad.SESSIONS,
                "depth",
                "by calls/s",
                "by READs/s",
                "calls/READs",
                "call p50 ns",
                "reads p50 ns",
                "reads/call");
        depths.forEach(depth -> run(depth, span, turns, turnNanos));
    }

    private void run(int depth, long span, int turns, long turnNanos) {
        List<Turns.Side<RuntimeException>> sides =
                List.of(turn -> calls(depth, turnNanos), turn -> reads(depth, turnNanos));
        putOff.share();
        Turns rates = Turns.take(sides, ChaseCost.warmUp(turnNanos), turns, late::restart);
        Validity validity = late.validity();
        double putOffShare = putOff.share();
        cache.reconfigure(READS);
        ChaseCost one = new ChaseCost(cache, chains, hops, depth);
        boolean settled = core.run(() -> one.run(turns, turnNanos, late));
        put(depth, span, rates, validity, putOffShare, one, settled, late.validity());
    }

    private double calls(int depth, long nanos) {
        cache.reconfigure(CALLS);
        try (ChaseLoad load = new ChaseLoad(core, cache, chains, depth, random)) {
            return load.calls(hops, nanos);
        }
    }

    private double reads(int depth, long nanos) {
        cache.reconfigure(READS);
        try (ChaseLoad load = new ChaseLoad(core, cache, chains, depth, random)) {
            return load.reads(nanos);
        }
    }

    private void put(
            int depth,
            long span,
            Turns rates,
            Validity validity,
            double putOffShare,
            ChaseCost one,
            boolean oneSettled,
            Validity oneValidity) {
        Samples calls = rates.of(0);
        Samples reads = rates.of(1);
        double ratio = MedianRatio.ofRates(validity, calls.median(), reads.median());
        double call = one.call.median();
        double read = one.read.median();
        Validity both = validity.worse(oneValidity);
        // An invalid row has no ratio at all; the op chase has this one in a row of its own.
        double oneRatio = both.compared(read / call);
        out.printf(
                "%6d%,14.0f%,14.0f%26s%,14.0f%,14.0f%12.2f   %s%n",
                depth,
                validity.compared(calls.median()),
                validity.compared(reads.median()),
                String.format(
                        "%.2f (%.2f..%.2f)",
                        ratio,
                        validity.compared(calls.lowerQuartile() / reads.upperQuartile()),
                        validity.compared(calls.upperQuartile() / reads.lowerQuartile())),
                call,
                read,
                oneRatio,
                both.remark(rates.settled() && oneSettled));
        BenchReport.Row row =
                report.row().put("op", "under-way").put("depth", (long) depth).put("span", span);
        SETUP.put(row)
                .put("sessions", (long) ChaseLoad.SESSIONS)
                .put("calls_per_s", validity.compared(calls.median()))
                .put("calls_per_s_p25", validity.compared(calls.lowerQuartile()))
                .put("calls_per_s_p75", validity.compared(calls.upperQuartile()))
                .put("read_chases_per_s", validity.compared(reads.median()))
                .put("read_chases_per_s_p25", validity.compared(reads.lowerQuartile()))
                .put("read_chases_per_s_p75", validity.compared(reads.upperQuartile()))
                .put("reads_per_s", validity.compared(reads.median() * Math.max(1, depth)))
                .put("ratio_ops", ratio);
        validity.put(row, rates.settled())
                .put("call_p50_ns", call)
                .put("read_p50_ns", read)
                .put("ratio_p50", oneRatio)
                .put("one_settled", oneSettled)
                .put("one_late_pct", oneValidity.latePercent())
                .put("one_invalid", oneValidity.invalid())
                .put("computed", false)
                .put("put_off_share", putOffShare);
    }
}
