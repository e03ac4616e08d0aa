package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class NetworkLocationTest {

    private static final List<String> PLACES =
            List.of("", "d", "d/c", "d/c/r", "d/c/r2", "d/c2/r", "d2/c/r", "d2", "d/c2");

    /** The distance of a server that has not been started yet is the distance that it will have. */
    @Test
    void whatIsReachedIsWhatTheStockHasThere() {
        for (String client : PLACES) {
            for (String server : PLACES) {
                Stock stock = new Stock();
                stock.put(new Offer(1, new Offer.Kind("t", false, 1), NetworkLocation.parse(server), 1, 1));
                for (int switches : List.of(1, 2, 3, 4, 5, 6)) {
                    assertEquals(
                            !stock.within(NetworkLocation.parse(client), switches)
                                    .isEmpty(),
                            NetworkLocation.parse(client).reaches(NetworkLocation.parse(server), switches),
                            "from '" + client + "' to '" + server + "' over " + switches);
                }
            }
        }
    }
}
