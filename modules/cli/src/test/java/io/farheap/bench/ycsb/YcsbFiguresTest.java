package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.bench.report.ModelLateness;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A bar stands in the series of the threads that made its operations. */
class YcsbFiguresTest {

    /** A contestant that has a number of threads of its own, or 0. */
    private record Threaded(int own) implements Contestant {

        @Override
        public void load() {}

        @Override
        public ContestantClient open(ClientCounts tally) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Facts facts() {
            return Facts.inMemory(0);
        }

        @Override
        public Means means() {
            return Means.single(100);
        }

        @Override
        public int threads(int clients) {
            return own == 0 ? clients : own;
        }

        @Override
        public void close() {}
    }

    private static ContestResult result(String name, int own, int planned, double rate) {
        ContestResult result = new ContestResult(name, KeyDistribution.UNIFORM, planned, 1, 100);
        try (ModelLateness lateness = new ModelLateness()) {
            result.add(new ContestTurn(rate, new ClientCounts(), 0), new Threaded(own), lateness);
        }
        return result;
    }

    @Test
    void aContestantWithThreadsOfItsOwnStandsInNoSeriesOfOthers() {
        List<ContestResult> results = List.of(
                result("far", 0, 1, 10),
                result("rocksdb", 0, 1, 20),
                result("rocksdb-64", 64, 1, 300),
                result("far", 0, 2, 15),
                result("rocksdb", 0, 2, 35));
        var rates = YcsbFigures.rates(results, List.of("far", "rocksdb", "rocksdb-64"));
        assertEquals(List.of(1, 2, 64), List.copyOf(rates.keySet()));
        assertEquals(Arrays.asList(10.0, 20.0, null), rates.get(1));
        assertEquals(Arrays.asList(15.0, 35.0, null), rates.get(2));
        assertEquals(Arrays.asList(null, null, 300.0), rates.get(64));
    }
}
