package io.farheap.bench.resilience;

import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;
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

    private final ModelLateness.Total late = new ModelLateness.Total();
    private Validity beside = Validity.NO_MODEL;
    private boolean settled;
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

    /** Ends a turn, in which only these requests were made since {@code lateness} was restarted. */
    void endTurn(ModelLateness lateness) {
        lateness.addTo(late);
        endTurn();
    }

    /** Adds the validity of turns in which other requests were made at the same time. */
    void judged(Validity some) {
        beside = beside.worse(some);
    }

    /** Sets whether the last three turns of the warm-up agreed within 5%; if it is not called, they did not. */
    void settled(boolean agreed) {
        settled = agreed;
    }

    boolean settled() {
        return settled;
    }

    Validity validity() {
        return late.validity().worse(beside);
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
        return quartiles().median();
    }

    /** Returns the median of the turns' medians, in ns, and its quartiles. */
    Quartiles quartiles() {
        return samples(medians).quartiles();
    }

    /** Returns the median of the turns' 99th percentiles, in ns; NaN if there are none. */
    double tail() {
        return samples(tails).median();
    }

    /** Returns the ratio of {@link #median} to another's. NaN if one of them is invalid. */
    double medianRatio(RequestTally to) {
        return ratio(to, median(), to.median());
    }

    /** The same for {@link #tail}. */
    double tailRatio(RequestTally to) {
        return ratio(to, tail(), to.tail());
    }

    /** Returns the median of the turns' processor time for a request, in ns; NaN if it was not measured. */
    double cpu() {
        return samples(cpus).median();
    }

    /** The same ratio for {@link #cpu}. */
    double cpuRatio(RequestTally to) {
        return ratio(to, cpu(), to.cpu());
    }

    private double ratio(RequestTally to, double one, double other) {
        return MedianRatio.ofTimes(validity().worse(to.validity()), one, other);
    }

    /** Returns those that were measured. */
    private static Samples samples(List<Double> ofTurns) {
        Samples samples = new Samples();
        ofTurns.stream().filter(Double::isFinite).forEach(samples::add);
        return samples;
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
