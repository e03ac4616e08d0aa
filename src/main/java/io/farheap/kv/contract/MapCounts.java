package io.farheap.kv.contract;

import io.farheap.remote.contract.VerbCounts;
import java.util.Locale;
import java.util.Map;

/**
 * What all sessions of a map that this process has opened have met since it was, those that are closed too. Figures of
 * sessions that are used meanwhile are of about one moment.
 *
 * @param hits gets that found their key; they need no call of a server
 * @param misses gets that did not
 * @param stored objects, by sets, adds, replaces, compare-and-sets and increments
 * @param refused adds, replaces, compare-and-sets, increments and touches that what was there did not allow
 * @param deleted objects
 * @param touched objects that got another time to live
 * @param noRoom requests that found no room
 * @param lost requests whose server was lost
 * @param readAgain gets that read their bucket anew, since the block had been used again
 * @param swapsLost compare-and-swaps of requests that another client was faster with, and that were made again
 * @param evicted objects
 * @param crowdedOut objects evicted since their bucket was full
 * @param victimsLost evictions that another client was faster with
 * @param unlinked slots that named what cannot be read, and were taken out
 * @param duplicates second slots of one key that were taken out
 * @param moved objects that were moved to other blocks, so that a segment could be of another size or a server leave
 * @param evictedBy by expert: evictions of what it had named
 * @param regrets by expert: misses of what it had named not long before
 * @param posted by all requests, and by what nobody waits for
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
        long readAgain,
        long swapsLost,
        long evicted,
        long crowdedOut,
        long victimsLost,
        long unlinked,
        long duplicates,
        long moved,
        Map<String, Long> evictedBy,
        Map<String, Long> regrets,
        VerbCounts posted) {

    /** Of gets; not a number where there were none. */
    public double hitRatio() {
        return (double) hits / (hits + misses);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d hits, %,d misses, %,d stored, %,d refused, %,d deleted, %,d touched, %,d without room, %,d lost; %,d read "
                        + "again, %,d swaps lost, %,d evicted %s, %,d crowded out, %,d victims lost, %,d unlinked, %,d "
                        + "duplicates, %,d moved; regrets %s; %,d READs, %,d WRITEs, %,d compare-and-swaps, %,d fetch-and-adds",
                hits,
                misses,
                stored,
                refused,
                deleted,
                touched,
                noRoom,
                lost,
                readAgain,
                swapsLost,
                evicted,
                evictedBy,
                crowdedOut,
                victimsLost,
                unlinked,
                duplicates,
                moved,
                regrets,
                posted.reads(),
                posted.writes(),
                posted.swaps(),
                posted.adds());
    }
}
