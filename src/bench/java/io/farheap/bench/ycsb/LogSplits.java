package io.farheap.bench.ycsb;

import io.farheap.memory.Plurals;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Ways to divide a log between local memory, far memory and files, each with its throughput and the price of its
 * memory: which way is the cheapest for a wanted throughput. Redy leaves open how to size local memory; this answers it
 * for one load.
 */
final class LogSplits {

    /**
     * One way.
     *
     * @param localShare of the log, 0 to 1
     * @param rate operations a second
     * @param price for an hour and each TiB of the log, with the index
     * @param withoutIndex the same price without the index
     */
    record Split(String contestant, int threads, double localShare, double rate, double price, double withoutIndex) {

        private String text() {
            return String.format(Locale.ROOT, "%s with %.0f %% local", contestant, 100 * localShare);
        }

        /** Whether it is neither slower nor dearer, and better in one of the two. */
        private boolean beats(Split other) {
            return rate >= other.rate && price <= other.price && (rate > other.rate || price < other.price);
        }
    }

    private final MemoryPrices prices;
    private final long logBytes;
    private final List<Split> splits = new ArrayList<>();

    LogSplits(MemoryPrices prices, long logBytes) {
        this.prices = prices;
        this.logBytes = logBytes;
    }

    void add(ContestResult result) {
        Contestant.Facts facts = result.facts();
        add(new Split(
                result.contestant,
                result.threads,
                facts.localShare(),
                result.rates.median(),
                prices.withIndex(facts, logBytes),
                prices.withoutIndex(facts)));
    }

    void add(Split split) {
        splits.add(split);
    }

    /** Returns the ways that no other beats, the cheapest first. */
    List<Split> worthwhile(int threads) {
        return of(threads)
                .filter(split -> of(threads).noneMatch(other -> other.beats(split)))
                .sorted(Comparator.comparingDouble(Split::price))
                .toList();
    }

    /** Returns the cheapest way that reaches a throughput. */
    Optional<Split> cheapest(int threads, double wanted) {
        return of(threads)
                .filter(split -> split.rate() >= wanted)
                .min(Comparator.comparingDouble(Split::price)
                        .thenComparing(Comparator.comparingDouble(Split::rate).reversed()));
    }

    private Stream<Split> of(int threads) {
        return splits.stream().filter(split -> split.threads() == threads);
    }

    /** @param wanted throughputs, in operations a second */
    void print(PrintStream out, List<Double> wanted) {
        out.printf(
                Locale.ROOT,
                "%nmemory for an hour and a TiB: local %.4f (%s), far %.4f (%s); a disk is on no menu, and costs nothing here%n",
                prices.local(),
                prices.localType(),
                prices.far(),
                prices.farType());
        out.printf(
                "%-14s%8s%8s%16s%20s%16s   %s%n",
                "contestant", "threads", "local", "operations/s", "price/h, TiB of log", "without index", "worth it");
        List<Integer> counts =
                splits.stream().map(Split::threads).distinct().sorted().toList();
        for (int threads : counts) {
            List<Split> worthwhile = worthwhile(threads);
            of(threads)
                    .sorted(Comparator.comparingDouble(Split::price))
                    .forEach(split -> out.printf(
                            Locale.ROOT,
                            "%-14s%8d%8.3f%,16.0f%20.4f%16.4f   %s%n",
                            split.contestant(),
                            threads,
                            split.localShare(),
                            split.rate(),
                            split.price(),
                            split.withoutIndex(),
                            worthwhile.contains(split) ? "yes" : "no"));
        }
        for (double rate : wanted) {
            for (int threads : counts) {
                out.printf(
                        Locale.ROOT,
                        "wanted %,.0f operations/s, %d %s: %s%n",
                        rate,
                        threads,
                        Plurals.noun(threads, "thread"),
                        cheapest(threads, rate)
                                .map(split -> String.format(
                                        Locale.ROOT,
                                        "%s, for %.4f, reads %,.0f",
                                        split.text(),
                                        split.price(),
                                        split.rate()))
                                .orElseGet(() -> fastest(threads)));
            }
        }
    }

    private String fastest(int threads) {
        Split fastest = of(threads).max(Comparator.comparingDouble(Split::rate)).orElseThrow();
        return String.format(Locale.ROOT, "none reaches it; %s reads %,.0f, the most", fastest.text(), fastest.rate());
    }
}
