package io.farheap.cli;

import io.farheap.command.Sizes;
import io.farheap.resilience.contract.Resilience;
import io.farheap.server.contract.ServerOptions;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@code demo --resilience K+R --kill N}.
 *
 * @param resilience failure recovery with k data and r parity splits
 * @param kill how many servers are killed at once, 1 to r
 */
record CodedDemoOptions(Resilience resilience, int kill) {

    private static final Pattern CODE = Pattern.compile("(\\d{1,4})\\+(\\d{1,4})");
    /** The most bytes of the space, of which there is a local copy. */
    private static final long MOST_BYTES = 1 << 30;
    /** The least number of servers without a slab. */
    private static final int LEAST_SPARES = 2;

    /**
     * @param code K+R, or null if it was not given
     * @param kill null if it was not given: as many as the code survives
     * @throws IllegalArgumentException with the limit and the remedy
     */
    static CodedDemoOptions parse(@Nullable String code, @Nullable Integer kill) {
        if (code == null) {
            throw new IllegalArgumentException(
                    "--kill " + kill + ": it needs coded memory; add --resilience K+R, such as 4+2");
        }
        Matcher matcher = CODE.matcher(code);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("--resilience " + code
                    + ": it is K+R, the data and parity splits of each page; take K of 1 to 16 and R of 1 to 4, such "
                    + "as 4+2");
        }
        Resilience resilience;
        try {
            resilience =
                    Resilience.failureRecovery(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--resilience " + code + ": " + e.getMessage(), e);
        }
        int most = resilience.paritySplits();
        if (most == 0) {
            throw new IllegalArgumentException("--resilience " + code
                    + ": without parity splits no server may be killed; take R of 1 to 4, such as "
                    + resilience.dataSplits() + "+2");
        }
        int killed = kill == null ? most : kill;
        if (killed < 1 || killed > most) {
            throw new IllegalArgumentException("--kill " + killed + ": with --resilience " + code + " at most r = "
                    + most + " servers may die at once; take 1 to " + most
                    + (killed < 1 ? "" : killed <= 4 ? ", or an R of at least " + killed : ", or an R of up to 4"));
        }
        return new CodedDemoOptions(resilience, killed);
    }

    /**
     * @param bytes of a slab, which is a server's region
     * @throws IllegalArgumentException if the demo has no servers or no local memory for it
     */
    void checkSlab(long bytes) {
        long least = ServerOptions.MIN_REGION_BYTES;
        long most = Long.highestOneBit(MOST_BYTES / resilience.dataSplits());
        if (!ServerOptions.isRegionSize(bytes) || bytes > most) {
            throw new IllegalArgumentException("--region " + bytes + " bytes: with k = " + resilience.dataSplits()
                    + " the demo takes a power of two from " + Sizes.format(least) + " to " + Sizes.format(most));
        }
    }

    /** Returns the number of servers without a slab at first, on which the slabs of killed servers are regenerated. */
    int spares() {
        return Math.max(LEAST_SPARES, kill);
    }

    /** Memory servers, each a failure domain. */
    int servers() {
        return resilience.splits() + spares();
    }
}
