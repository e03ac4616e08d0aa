package io.farheap.control.plane;

import io.farheap.coding.ErasureCode;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import java.util.List;

/**
 * The sources of a {@linkplain ControlPlane#prepareRebuild rebuild} of a region: splits of an erasure code on other
 * servers.
 *
 * @param dataSplits k of the code
 * @param paritySplits r of the code
 * @param split number of the split to rebuild
 * @param sources at least k other splits, each in a region at least as long as the new one
 */
public record RebuildPlan(int dataSplits, int paritySplits, int split, List<Source> sources) {

    /**
     * An existing split.
     *
     * @param split its number
     * @param address HOST:PORT of its server's control plane
     * @param token of the {@link Ticket} for its region
     */
    public record Source(int split, String address, byte[] token) {

        /** Omits the token, which is a secret. */
        @Override
        public String toString() {
            return "split " + split + " of " + address;
        }
    }

    public RebuildPlan {
        sources = List.copyOf(sources);
    }

    /** Numbers of the sources' splits, a bit each. */
    public int present() {
        int present = 0;
        for (Source source : sources) {
            present |= 1 << source.split();
        }
        return present;
    }

    /**
     * Checks the plan.
     *
     * @throws ControlException INVALID_ARGUMENT if it is not valid
     */
    public void check() {
        try {
            ErasureCode.of(dataSplits, paritySplits);
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
        int seen = 0;
        checkNumber(split);
        for (Source source : sources) {
            checkNumber(source.split());
            if (source.split() == split || (seen >>> source.split() & 1) != 0) {
                throw wrong("split " + source.split() + " is a source twice, or the one that is to be made");
            }
            seen |= 1 << source.split();
        }
        if (sources.size() < dataSplits) {
            throw wrong(sources.size() + " sources; it takes " + dataSplits + " splits to make another");
        }
    }

    private void checkNumber(int number) {
        if (number < 0 || number >= dataSplits + paritySplits) {
            throw wrong("split " + number + " of a code with " + (dataSplits + paritySplits));
        }
    }

    private static ControlException wrong(String what) {
        return new ControlException(Code.INVALID_ARGUMENT, what);
    }
}
