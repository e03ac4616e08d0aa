package io.farheap.bench.kv.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaseRequestsTest {

    private static LeaseWorkload workload(long keys, double skew, int gets) {
        return new LeaseWorkload(keys, skew, gets, 1000, keys, 1, 1);
    }

    /** Else the map would need less memory than the number of keys says. */
    @ParameterizedTest
    @CsvSource({"1000, 0.99", "1024, 0.5", "997, 0.8", "1, 0.99", "2, 0.99", "500, 0"})
    void eachKeyCanBeDrawn(long keys, double skew) {
        LeaseRequests drawn = new LeaseRequests(workload(keys, skew, 95), 1);
        long[] distinct = LongStream.generate(drawn::next)
                .limit(200_000)
                .distinct()
                .sorted()
                .toArray();
        assertEquals(keys, distinct.length);
        assertEquals(0, distinct[0]);
        assertEquals(keys - 1, distinct[distinct.length - 1]);
    }

    /** The most popular of two keys has 1 of 1 + 2^-0.99 requests. */
    @Test
    void popularityFollowsZipf() {
        LeaseRequests drawn = new LeaseRequests(workload(2, 0.99, 95), 1);
        long first = LongStream.generate(drawn::next)
                .limit(100_000)
                .filter(key -> key == 0)
                .count();
        assertEquals(100_000 / (1 + Math.pow(2, -0.99)), (double) first, 1_000);
    }

    @Test
    void aSeedHasItsRequests() {
        LeaseRequests one = new LeaseRequests(workload(100, 0.99, 50), 7);
        LeaseRequests same = new LeaseRequests(workload(100, 0.99, 50), 7);
        int sets = 0;
        for (int i = 0; i < 1000; i++) {
            assertEquals(one.next(), same.next());
            assertEquals(one.isSet(), same.isSet());
            sets += one.isSet() ? 1 : 0;
        }
        assertEquals(500, sets, 100);
    }
}
