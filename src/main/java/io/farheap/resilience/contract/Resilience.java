package io.farheap.resilience.contract;

import io.farheap.coding.ErasureCode;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * What a coded space promises, and what it pays for it: a mode with its k data and r parity splits of each page, and
 * the additional splits Δ that reads ask (Hydra, FAST '22, table 1 and section 4.1). Immutable; each setter returns a
 * changed copy, and rejects a value that does not fit with a message that says which values do.
 *
 * <pre>{@code
 * Resilience.failureRecovery(8, 2)              // any 2 servers may die; 1.25 bytes of far memory for each byte
 * Resilience.corruptionCorrection(8, 3)         // one corrupt split of a page is corrected
 * Resilience.copies(2)                          // a second copy
 * }</pre>
 *
 * @param mode which failures are survived
 * @param dataSplits k, 1 to 16
 * @param paritySplits r, 0 to 4
 * @param additional Δ, 0 to r: reads ask k + Δ splits; in the corruption modes, up to Δ corrupt splits of a page are
 *     detected or corrected. It has no effect in EC-only
 * @param pageBytes of a page, which k divides into multiples of {@value #SPLIT_UNIT} bytes
 * @param timeoutNanos after which a split that is not written makes its slab void, counted while its session polls
 * @param strict whether a write waits for a new slab if one is void, instead of completing on the remaining ones
 * @param errorCorrectionLimit the part of a server's splits in a window of half a second, taken to be at least 1,000,
 *     that were wrong or in doubt, above which reads that involve the server ask k + 2Δ + 1 at once, at most k + r (not
 *     in EC-only). A connection that fails again within ten seconds counts as one of 1,000; a late split counts as a
 *     tenth, if the server is late more than twice as often as the others
 * @param slabRegenerationLimit the same for wrong splits and repeated failures of connections alone, above which the
 *     server's slabs are regenerated; they are also regenerated after ten seconds above the errorCorrectionLimit by
 *     these alone
 */
public record Resilience(
        Mode mode,
        int dataSplits,
        int paritySplits,
        int additional,
        int pageBytes,
        long timeoutNanos,
        boolean strict,
        double errorCorrectionLimit,
        double slabRegenerationLimit) {

    /** The length of a split is a multiple of it, in bytes. */
    public static final int SPLIT_UNIT = 64;
    /** The largest page, in bytes. */
    public static final int MOST_PAGE_BYTES = 1 << 20;

    private static final int USUAL_PAGE_BYTES = 4096;
    private static final long USUAL_TIMEOUT_NANOS = 50_000_000;
    private static final double USUAL_CORRECTION_LIMIT = 0.001;
    private static final double USUAL_REGENERATION_LIMIT = 0.005;

    /** Which failures are survived (Hydra, table 1). */
    public enum Mode {
        /** r lost servers. A write waits for all k + r splits, a read for any k. */
        FAILURE_RECOVERY,
        /** Δ corrupt splits of a page are detected. A write waits for k + Δ, a read for k + Δ that agree. */
        CORRUPTION_DETECTION,
        /**
         * Δ corrupt splits of a page are corrected. A write waits for k + 2Δ + 1; a read that finds disagreement asks Δ
         * + 1 more.
         */
        CORRUPTION_CORRECTION,
        /** None: pages are split for speed alone. Reads ask any k, reads and writes wait for any k. */
        EC_ONLY;

        /** As commands and reports write it. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException with the value, the limit and the remedy
     */
    public Resilience {
        check(
                dataSplits >= 1 && dataSplits <= ErasureCode.MOST_DATA,
                "k = " + dataSplits + " data splits; take 1 to " + ErasureCode.MOST_DATA);
        check(
                paritySplits >= 0 && paritySplits <= ErasureCode.MOST_PARITY,
                "r = " + paritySplits + " parity splits; take 0 to " + ErasureCode.MOST_PARITY);
        check(
                additional >= 0 && additional <= paritySplits,
                "Δ = " + additional + " additional splits with r = " + paritySplits + "; take 0 to " + paritySplits);
        boolean corruption = mode == Mode.CORRUPTION_DETECTION || mode == Mode.CORRUPTION_CORRECTION;
        check(
                !corruption || additional >= 1,
                "Δ = " + additional + " in mode " + mode
                        + ", which shows Δ corrupt splits; take Δ and r of at least 1");
        int least = 2 * additional + 1;
        check(
                mode != Mode.CORRUPTION_CORRECTION || paritySplits >= least,
                "r = " + paritySplits + " parity splits do not correct Δ = " + additional + "; "
                        + (least <= ErasureCode.MOST_PARITY
                                ? "take r of at least 2Δ + 1 = " + least
                                : "take a Δ of 1, and r of at least 3"));
        int unit = dataSplits * SPLIT_UNIT;
        check(
                pageBytes >= unit && pageBytes <= MOST_PAGE_BYTES && pageBytes % unit == 0,
                "a page of " + pageBytes + " bytes, which k = " + dataSplits + " does not cut into multiples of "
                        + SPLIT_UNIT + " bytes; " + nearest(pageBytes, unit));
        check(
                timeoutNanos >= 1_000_000 && timeoutNanos <= 60_000_000_000L,
                "a timeout of " + timeoutNanos / 1e6 + " ms; take 1 ms to 60 s");
        check(
                errorCorrectionLimit > 0 && errorCorrectionLimit <= 1,
                "an errorCorrectionLimit of " + errorCorrectionLimit + "; it is above 0 and at most 1");
        check(
                slabRegenerationLimit >= errorCorrectionLimit && slabRegenerationLimit <= 1,
                "a slabRegenerationLimit of " + slabRegenerationLimit + "; it is at least the errorCorrectionLimit, "
                        + errorCorrectionLimit + ", and at most 1");
    }

    private static void check(boolean right, String otherwise) {
        if (!right) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static String nearest(int bytes, int unit) {
        int most = MOST_PAGE_BYTES / unit * unit;
        int below = Math.max(unit, Math.min(most, Math.floorDiv(bytes, unit) * unit));
        int above = Math.min(most, below + unit);
        boolean outside = bytes < unit || bytes > most;
        return "take " + (outside || below == above ? below : below + " or " + above) + " bytes";
    }

    /** Survives r lost servers; Δ is 1 if r is not 0. */
    public static Resilience failureRecovery(int dataSplits, int paritySplits) {
        return of(Mode.FAILURE_RECOVERY, dataSplits, paritySplits, Math.min(1, paritySplits));
    }

    /** Detects one corrupt split of a page, and survives r lost servers. */
    public static Resilience corruptionDetection(int dataSplits, int paritySplits) {
        return of(Mode.CORRUPTION_DETECTION, dataSplits, paritySplits, 1);
    }

    /** Corrects one corrupt split of a page, and survives r lost servers; r is at least 3. */
    public static Resilience corruptionCorrection(int dataSplits, int paritySplits) {
        return of(Mode.CORRUPTION_CORRECTION, dataSplits, paritySplits, 1);
    }

    /** Promises nothing but speed; Δ is 1 if r is not 0. */
    public static Resilience ecOnly(int dataSplits, int paritySplits) {
        return of(Mode.EC_ONLY, dataSplits, paritySplits, Math.min(1, paritySplits));
    }

    /**
     * Copies of each page, of which all but one may be lost; a read asks one.
     *
     * @param copies 1 to 5
     */
    public static Resilience copies(int copies) {
        check(
                copies >= 1 && copies <= ErasureCode.MOST_PARITY + 1,
                copies + " copies; take 1 to " + (ErasureCode.MOST_PARITY + 1));
        return of(Mode.FAILURE_RECOVERY, 1, copies - 1, 0);
    }

    private static Resilience of(Mode mode, int dataSplits, int paritySplits, int additional) {
        int unit = Math.clamp(dataSplits, 1, ErasureCode.MOST_DATA) * SPLIT_UNIT;
        int page = (USUAL_PAGE_BYTES + unit - 1) / unit * unit;
        return new Resilience(
                mode,
                dataSplits,
                paritySplits,
                additional,
                page,
                USUAL_TIMEOUT_NANOS,
                false,
                USUAL_CORRECTION_LIMIT,
                USUAL_REGENERATION_LIMIT);
    }

    /** With another Δ. */
    public Resilience additional(int splits) {
        return with(splits, pageBytes, timeoutNanos, strict, errorCorrectionLimit, slabRegenerationLimit);
    }

    /** With another size of pages, in bytes. */
    public Resilience pageBytes(int bytes) {
        return with(additional, bytes, timeoutNanos, strict, errorCorrectionLimit, slabRegenerationLimit);
    }

    /** With another timeout of writes, 1 ms to 60 s. */
    public Resilience timeout(Duration timeout) {
        return with(
                additional,
                pageBytes,
                TimeUnit.NANOSECONDS.convert(timeout),
                strict,
                errorCorrectionLimit,
                slabRegenerationLimit);
    }

    /** Sets whether a write waits for a new slab if one is void. */
    public Resilience strict(boolean waits) {
        return with(additional, pageBytes, timeoutNanos, waits, errorCorrectionLimit, slabRegenerationLimit);
    }

    /** With other limits of health, each a part of the splits that a server was asked. */
    public Resilience limits(double errorCorrection, double slabRegeneration) {
        return with(additional, pageBytes, timeoutNanos, strict, errorCorrection, slabRegeneration);
    }

    private Resilience with(
            int delta, int page, long timeout, boolean waits, double errorCorrection, double slabRegeneration) {
        return new Resilience(
                mode, dataSplits, paritySplits, delta, page, timeout, waits, errorCorrection, slabRegeneration);
    }

    /** k + r: the slabs of a range, and the failure domains that are needed. */
    public int splits() {
        return dataSplits + paritySplits;
    }

    /** Bytes of a split. */
    public int splitBytes() {
        return pageBytes / dataSplits;
    }

    /** Whether reads check what they read. */
    public boolean checksReads() {
        return mode == Mode.CORRUPTION_DETECTION || mode == Mode.CORRUPTION_CORRECTION;
    }

    /** How many splits have to be there before a write completes, if no slab is void. */
    public int writeWaitsFor() {
        return switch (mode) {
            case FAILURE_RECOVERY -> splits();
            case CORRUPTION_DETECTION -> dataSplits + additional;
            case CORRUPTION_CORRECTION -> dataSplits + 2 * additional + 1;
            case EC_ONLY -> dataSplits;
        };
    }

    /** How many splits a read asks at first. */
    public int readAsks() {
        return mode == Mode.EC_ONLY ? dataSplits : dataSplits + additional;
    }

    /** Bytes of far memory for each byte of the space. */
    public double memoryOverhead() {
        return (double) splits() / dataSplits;
    }

    @Override
    public String toString() {
        return mode + " " + dataSplits + "+" + paritySplits + " Δ=" + additional + ", pages of " + pageBytes + " bytes";
    }
}
