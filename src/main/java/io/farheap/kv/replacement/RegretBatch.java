package io.farheap.kv.replacement;

import java.util.Arrays;

/**
 * Penalties that a client has applied to its own weights and not yet sent to the controller: their sums by expert,
 * which are as good as the list, since {@code e^-a e^-b} is {@code e^-(a+b)} (Ditto, section 4.3.2). One thread.
 *
 * <p>Encoded as words of 8 bytes: the number of regrets, then a double for each expert.
 */
public final class RegretBatch {

    /** The default number of regrets after which a batch is sent. */
    public static final int FULL = 100;

    /** A bound for decoding: a client that cannot send for long has more than {@link #FULL}. */
    private static final long MOST = 1_000_000;

    private final double[] sums;
    private long regrets;

    public RegretBatch(int experts) {
        sums = new double[experts];
    }

    /** The number of words of an encoded batch. */
    public static int words(int experts) {
        return 1 + experts;
    }

    /** Adds a regret, with the parameters of {@link ExpertWeights#regret}. */
    public void add(long experts, double penalty) {
        for (int expert = 0; expert < sums.length; expert++) {
            if ((experts >>> expert & 1) != 0) {
                sums[expert] += penalty;
            }
        }
        regrets++;
    }

    public long regrets() {
        return regrets;
    }

    /** The sums; the caller must not change the array. */
    double[] sums() {
        return sums;
    }

    public void clear() {
        Arrays.fill(sums, 0);
        regrets = 0;
    }

    /** Writes the batch into the first {@link #words}. */
    public void encode(long[] words) {
        words[0] = regrets;
        for (int expert = 0; expert < sums.length; expert++) {
            words[1 + expert] = Double.doubleToRawLongBits(sums[expert]);
        }
    }

    /**
     * Decodes a batch, which any client may have written.
     *
     * @throws IllegalArgumentException if it cannot be a batch; this one then stays as it was
     */
    public void decode(long[] words) {
        if (words.length < words(sums.length)) {
            throw new IllegalArgumentException(
                    "regrets in " + words.length + " words; " + sums.length + " experts take " + words(sums.length));
        }
        if (words[0] < 0 || words[0] > MOST) {
            throw new IllegalArgumentException(words[0] + " regrets in a batch; it has 0 to " + MOST);
        }
        for (int expert = 0; expert < sums.length; expert++) {
            double sum = Double.longBitsToDouble(words[1 + expert]);
            // Each penalty is 1 at most.
            if (!(sum >= 0 && sum <= words[0])) {
                throw new IllegalArgumentException("penalties of expert " + expert + " sum to " + sum + "; " + words[0]
                        + " regrets make 0 to " + words[0]);
            }
        }
        regrets = words[0];
        for (int expert = 0; expert < sums.length; expert++) {
            sums[expert] = Double.longBitsToDouble(words[1 + expert]);
        }
    }
}
