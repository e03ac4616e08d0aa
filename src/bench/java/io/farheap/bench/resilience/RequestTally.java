package io.farheap.bench.resilience;

import io.farheap.bench.report.Samples;
import io.farheap.resilience.contract.CodedStatus;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** What became of requests of one kind, turn after turn. One thread. */
final class RequestTally {

    private static final int DIGITS = 3;
    private static final long LONGEST_NANOS = 600_000_000_000L;

    private final Histogram all = new Histogram(LONGEST_NANOS, DIGITS);
    private final Histogram turn = new Histogram(LONGEST_NANOS, DIGITS);
    /** By turn; NaN of one without a request that ended well. */
    private final List<Double> medians = new ArrayList<>();

    private final List<Double> tails = new ArrayList<>();
    /** By turn, of each request; NaN where it was not measured. */
    private final List<Double> cpus = new ArrayList<>();

    private long endedInTurn;
    private double cpuOfTurn;
    private long wrongBytes;
    private long lost;
    private long shown;
    private long unreadPages;
    private long wireBytes;
    private long longestNanos;

    void ended(int status, long nanos, long wrong) {
        endedInTurn++;
        longestNanos = Math.max(longestNanos, nanos);
        if (status == CodedStatus.OK) {
            turn.recordValue(Math.min(nanos, LONGEST_NANOS));
        } else if (status == CodedStatus.CORRUPT) {
            shown++;
        } else {
            lost++;
        }
        wrongBytes += wrong;
    }

    /** Bytes of READs and WRITEs for its requests. */
    void posted(long bytes) {
        wireBytes += bytes;
    }

    /** Processor time that its thread took for requests of this turn, in ns. */
    void cpu(double nanos) {
        cpuOfTurn += nanos;
    }

    void endTurn() {
        boolean any = turn.getTotalCount() > 0;
        medians.add(any ? (double) turn.getValueAtPercentile(50) : Double.NaN);
        tails.add(any ? (double) turn.getValueAtPercentile(99) : Double.NaN);
        cpus.add(cpuOfTurn > 0 && endedInTurn > 0 ? cpuOfTurn / endedInTurn : Double.NaN);
        cpuOfTurn = 0;
        endedInTurn = 0;
        all.add(turn);
        turn.reset();
    }

    /** What the reading of everything found afterwards. */
    void verified(RequestTally reads) {
        wrongBytes += reads.wrongBytes;
        unreadPages += reads.lost + reads.shown;
    }

    /** Pages that could not be had when everything was read. */
    long unreadPages() {
        return unreadPages;
    }

    /** Those that ended well. */
    long requests() {
        return all.getTotalCount() + turn.getTotalCount();
    }

    long wrongBytes() {
        return wrongBytes;
    }

    /** Requests that ended as lost. */
    long lost() {
        return lost;
    }

    /** Requests that ended as corrupt. */
    long shown() {
        return shown;
    }

    /** Bytes of READs and WRITEs for each byte that was asked for or given; NaN where they were not counted. */
    double wireOverhead(int bytes) {
        return wireBytes == 0 ? Double.NaN : (double) wireBytes / ((requests() + lost + shown) * bytes);
    }

    /** The median of the turns' medians, in ns; NaN of none. */
    double median() {
        return median(medians);
    }

    /** The median of the turns' 99th percentiles, in ns; NaN of none. */
    double tail() {
        return median(tails);
    }

    /** The median over turns of this one's median to another's in the same turn. */
    double medianRatio(RequestTally to) {
        return ratio(medians, to.medians);
    }

    /** The same of 99th percentiles. */
    double tailRatio(RequestTally to) {
        return ratio(tails, to.tails);
    }

    /** The median of the turns' processor time for a request, in ns; NaN where it was not measured. */
    double cpu() {
        return median(cpus);
    }

    /** The median over turns of this one's processor time for a request to another's in the same turn. */
    double cpuRatio(RequestTally to) {
        return ratio(cpus, to.cpus);
    }

    private static double median(List<Double> ofTurns) {
        Samples samples = new Samples();
        ofTurns.stream().filter(Double::isFinite).forEach(samples::add);
        return samples.median();
    }

    private static double ratio(List<Double> one, List<Double> other) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
            ratios.add(one.get(i) / other.get(i));
        }
        return median(ratios);
    }

    /** Of all turns; NaN of none. */
    double percentile(double percent) {
        return all.getTotalCount() == 0 ? Double.NaN : all.getValueAtPercentile(percent);
    }

    /** The longest request, however it ended. */
    double longestMicros() {
        return longestNanos / 1e3;
    }
}
