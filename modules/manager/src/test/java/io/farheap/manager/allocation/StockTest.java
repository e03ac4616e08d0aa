package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.farheap.manager.allocation.Offer.Kind;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class StockTest {

    private static final List<NetworkLocation> PLACES = List.of(
            NetworkLocation.UNKNOWN,
            NetworkLocation.parse("d"),
            NetworkLocation.parse("d/c"),
            NetworkLocation.parse("d/c/r"),
            NetworkLocation.parse("d/c/q"),
            NetworkLocation.parse("d/b/r"),
            NetworkLocation.parse("e/c/r"));

    @Test
    void whatIsFoundIsWhatIsThere() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Stock stock = new Stock();
        Map<Long, Offer> model = new HashMap<>();
        for (int i = 0; i < Effort.count(20_000); i++) {
            String run = "seed " + seed + ", step " + i;
            long id = random.nextInt(20) - 10;
            if (random.nextInt(4) == 0) {
                stock.remove(id);
                model.remove(id);
                assertNull(stock.find(id), run);
            } else {
                Kind kind = new Kind("t" + random.nextInt(2), random.nextBoolean(), 1);
                Offer offer = new Offer(id, kind, PLACES.get(random.nextInt(PLACES.size())), random.nextInt(4), 0);
                stock.put(offer);
                model.put(id, offer);
                assertEquals(offer, stock.find(id), run);
            }
            NetworkLocation from = PLACES.get(random.nextInt(PLACES.size()));
            int switches = 1 + 2 * random.nextInt(3);
            assertEquals(near(model, from, switches), ids(stock.within(from, switches)), run);
        }
    }

    private static Set<Long> near(Map<Long, Offer> model, NetworkLocation from, int switches) {
        return model.values().stream()
                .filter(offer -> offer.free() > 0 && distance(from, offer.place()) <= switches)
                .map(Offer::serverId)
                .collect(Collectors.toSet());
    }

    private static int distance(NetworkLocation one, NetworkLocation other) {
        if (one.dataCenter().isEmpty()) {
            // A client that states no location takes any server.
            return 1;
        }
        if (other.dataCenter().isEmpty()) {
            return 5;
        }
        if (!one.dataCenter().equals(other.dataCenter())) {
            return Integer.MAX_VALUE;
        }
        if (one.cluster().isEmpty() || !one.cluster().equals(other.cluster())) {
            return 5;
        }
        return one.rack().isEmpty() || !one.rack().equals(other.rack()) ? 3 : 1;
    }

    private static Set<Long> ids(Map<Kind, NavigableSet<Offer>> found) {
        List<Long> ids = new ArrayList<>();
        found.forEach((kind, same) -> same.forEach(offer -> {
            assertEquals(kind, offer.kind());
            ids.add(offer.serverId());
        }));
        Set<Long> distinct = new TreeSet<>(ids);
        assertEquals(distinct.size(), ids.size(), "a server twice");
        return distinct;
    }
}
