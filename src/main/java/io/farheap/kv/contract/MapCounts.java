package io.farheap.kv.contract;

import io.farheap.remote.contract.VerbCounts;
import java.util.Locale;
import java.util.Map;

/**
 * Totals of all sessions of a map that this process has opened, with those that are closed. If sessions are in use, the
 * figures are of about the same moment.
 *
 * @param hits gets that found their key
 * @param misses gets that did not
 * @param stored objects, by sets, adds, replaces, compare-and-sets and increments
 * @param refused adds, replaces, compare-and-sets, increments and touches that the object, or its absence, did not
 *     allow
 * @param deleted objects
 * @param touched objects that got another time to live
 * @param noRoom requests that found no room
 * @param lost requests whose server was lost
 * @param pointerHits gets that found their object by a pointer, with one READ; {@code hits} includes them
 * @param stalePointers gets whose pointer led to no current object, and that looked their key up after that READ, or
 *     called the server of a leased map
 * @param calls of a leased map's servers that requests made; reports of READs are not among them
 * @param renewals of these, the calls that renewed a lease
 * @param readAgain gets that read their bucket again, since the block that it named had been used again
 * @param swapsLost compare-and-swaps of requests that failed because another client was faster, and were repeated
 * @param evicted objects
 * @param crowdedOut objects that were evicted because their bucket was full; {@code evicted} does not include them
 * @param victimsLost evictions that failed because another client had changed the slot
 * @param unlinked slots that were emptied because the block that they named could not be read
 * @param claimsRemoved claims of insertions that another insertion of their fingerprint removed
 * @param moved objects that were moved to other blocks, so that a segment could change its class or a server leave
 * @param evictedBy evictions, by the expert that had named the victim; once for each, if several had
 * @param regrets misses of keys that were evicted not long before, by the expert that had named the victim; once for
 *     each, if several had
 * @param posted operations, with the hints that no request waits for
 */
public record MapCounts(
        long hits,
        long misses,
        long stored,
        long refused,
        long deleted,
        long touched,
        long noRoom,
        long lost,
        long pointerHits,
        long stalePointers,
        long calls,
        long renewals,
        long readAgain,
        long swapsLost,
        long evicted,
        long crowdedOut,
        long victimsLost,
        long unlinked,
        long claimsRemoved,
        long moved,
        Map<String, Long> evictedBy,
        Map<String, Long> regrets,
        VerbCounts posted) {

    /** Hits as a share of all gets; NaN if there were none. */
    public double hitRatio() {
        return (double) hits / (hits + misses);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d hits, %,d misses, %,d stored, %,d refused, %,d deleted, %,d touched, %,d without room, %,d lost; "
                        + "%,d by pointers, %,d stale pointers, %,d calls, %,d renewals, %,d read again, %,d swaps lost, %,d evicted %s, %,d crowded out, %,d victims lost, "
                        + "%,d unlinked, %,d claims removed, %,d moved; regrets %s; %,d READs, %,d WRITEs, "
                        + "%,d compare-and-swaps, %,d fetch-and-adds",
                hits,
                misses,
                stored,
                refused,
                deleted,
                touched,
                noRoom,
                lost,
                pointerHits,
                stalePointers,
                calls,
                renewals,
                readAgain,
                swapsLost,
                evicted,
                evictedBy,
                crowdedOut,
                victimsLost,
                unlinked,
                claimsRemoved,
                moved,
                regrets,
                posted.reads(),
                posted.writes(),
                posted.swaps(),
                posted.adds());
    }
}
