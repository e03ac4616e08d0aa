package io.farheap.bench.resilience;

import io.farheap.bench.report.Samples;
import io.farheap.resilience.contract.CodedStatus;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** The results of requests of one kind, turn by turn. One thread. */
final class RequestTally {

    private static final int DIGITS = 3;
    private static final long LONGEST_NANOS = 600_000_000_000L;

    private final Histogram all = new Histogram(LONGEST_NANOS, DIGITS);
    private final Histogram turn = new Histogram(LONGEST_NANOS, DIGITS);
    /** By turn; NaN if no request of it succeeded. */
    private final List<Double> medians = new ArrayList<>();

    private final List<Double> tails = new ArrayList<>();
    /** By turn, for each request; NaN if it was not measured. */
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

    /** Adds bytes of READs and WRITEs for its requests. */
    void posted(long bytes) {
        wireBytes += bytes;
    }

    /** Adds processor time of its thread for requests of this turn, in ns. */
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

    /** Adds the result of reading everything afterwards. */
    void verified(RequestTally reads) {
        wrongBytes += reads.wrongBytes;
        unreadPages += reads.lost + reads.shown;
    }

    /** Returns how many pages could not be read when everything was read. */
    long unreadPages() {
        return unreadPages;
    }

    /** Returns how many requests succeeded. */
    long requests() {
        return all.getTotalCount() + turn.getTotalCount();
    }

    long wrongBytes() {
        return wrongBytes;
    }

    /** Returns how many requests ended as lost. */
    long lost() {
        return lost;
    }

    /** Returns how many requests ended as corrupt. */
    long shown() {
        return shown;
    }

    /** Returns bytes of READs and WRITEs for each byte that was read or written; NaN if they were not counted. */
    double wireOverhead(int bytes) {
        return wireBytes == 0 ? Double.NaN : (double) wireBytes / ((requests() + lost + shown) * bytes);
    }

    /** Returns the median of the turns' medians, in ns; NaN if there are none. */
    double median() {
        return median(medians);
    }

    /** Returns the median of the turns' 99th percentiles, in ns; NaN if there are none. */
    double tail() {
        return median(tails);
    }

    /** Returns the median over turns of the ratio of this median to another's in the same turn. */
    double medianRatio(RequestTally to) {
        return ratio(medians, to.medians);
    }

    /** The same for 99th percentiles. */
    double tailRatio(RequestTally to) {
        return ratio(tails, to.tails);
    }

    /** Returns the median of the turns' processor time for a request, in ns; NaN if it was not measured. */
    double cpu() {
        return median(cpus);
    }

    /**
     * Returns the median over turns of the ratio of this processor time for a request to another's in the same turn.
     */
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

    /** Returns a percentile over all turns; NaN if there are no requests. */
    double percentile(double percent) {
        return all.getTotalCount() == 0 ? Double.NaN : all.getValueAtPercentile(percent);
    }

    /** Returns the longest request, including failed ones. */
    double longestMicros() {
        return longestNanos / 1e3;
    }
}
