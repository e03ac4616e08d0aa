package io.farheap.coding;

/**
 * A systematic Reed-Solomon code over GF(2^8): it makes r parity splits from k data splits, and any k of the k + r
 * splits yield all others. Splits have numbers: data 0 to k - 1, parity k to k + r - 1. Sets of splits are masks with a
 * bit for each. Its matrix is a Cauchy matrix whose first row and column are ones: the first parity is the exclusive-or
 * of the data, so one lost data split is an exclusive-or too, and with k = 1 every parity is a copy. Immutable.
 */
public final class ErasureCode {

    /** The most data splits of a code. */
    public static final int MOST_DATA = 16;
    /** The most parity splits of a code. */
    public static final int MOST_PARITY = 4;

    private final int dataSplits;
    private final int paritySplits;
    /** By split, its factor for each data split: the identity matrix, and below it the code's. */
    private final int[][] rows;

    private ErasureCode(int dataSplits, int paritySplits) {
        this.dataSplits = dataSplits;
        this.paritySplits = paritySplits;
        rows = new int[dataSplits + paritySplits][dataSplits];
        int[][] parity = Matrices.cauchy(paritySplits, dataSplits);
        for (int split = 0; split < rows.length; split++) {
            if (split < dataSplits) {
                rows[split][split] = 1;
            } else {
                rows[split] = parity[split - dataSplits];
            }
        }
    }

    /**
     * The code with k data and r parity splits.
     *
     * @param data k, 1 to {@value #MOST_DATA}
     * @param parity r, 0 to {@value #MOST_PARITY}
     * @throws IllegalArgumentException if a number is outside its limits
     */
    public static ErasureCode of(int data, int parity) {
        if (data < 1 || data > MOST_DATA || parity < 0 || parity > MOST_PARITY) {
            throw new IllegalArgumentException("a code of " + data + " data and " + parity
                    + " parity splits; there are codes of 1 to " + MOST_DATA + " and 0 to " + MOST_PARITY);
        }
        return new ErasureCode(data, parity);
    }

    /** k. */
    public int dataSplits() {
        return dataSplits;
    }

    /** r. */
    public int paritySplits() {
        return paritySplits;
    }

    /** k + r. */
    public int splits() {
        return rows.length;
    }

    /** All data splits, as a mask. */
    public int data() {
        return (1 << dataSplits) - 1;
    }

    /** All parity splits, as a mask. */
    public int parity() {
        return all() & ~data();
    }

    /** All splits, as a mask. */
    public int all() {
        return (1 << splits()) - 1;
    }

    /** The factor of a data split in a parity split. */
    int coefficient(int paritySplit, int dataSplit) {
        return rows[paritySplit][dataSplit];
    }

    /**
     * Chooses the k splits from which others are made, if more are there: data first, as they need no work, then the
     * first parity, which needs the least.
     *
     * @throws IllegalArgumentException if fewer are there
     */
    int sources(int present) {
        checkMask(present);
        int sources = 0;
        int left = dataSplits;
        for (int split = 0; split < splits() && left > 0; split++) {
            if ((present >>> split & 1) != 0) {
                sources |= 1 << split;
                left--;
            }
        }
        if (left > 0) {
            throw new IllegalArgumentException(
                    Integer.bitCount(present) + " splits are there, and " + dataSplits + " are needed for the others");
        }
        return sources;
    }

    /**
     * The matrix that makes targets from k sources: a row for each target, with a column for each source, both in the
     * order of their numbers.
     */
    int[][] rows(int sources, int targets) {
        return Matrices.multiply(select(targets), Matrices.inverse(select(sources)));
    }

    private int[][] select(int splits) {
        int[][] selected = new int[Integer.bitCount(splits)][];
        int next = 0;
        for (int split = 0; split < splits(); split++) {
            if ((splits >>> split & 1) != 0) {
                selected[next++] = rows[split];
            }
        }
        return selected;
    }

    void checkMask(int splits) {
        if ((splits & ~all()) != 0) {
            throw new IllegalArgumentException(
                    "splits 0x" + Integer.toHexString(splits) + " of a code that has " + splits() + " splits");
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ErasureCode code && dataSplits == code.dataSplits && paritySplits == code.paritySplits;
    }

    @Override
    public int hashCode() {
        return 31 * dataSplits + paritySplits;
    }

    /** Such as 8+2. */
    @Override
    public String toString() {
        return dataSplits + "+" + paritySplits;
    }
}
