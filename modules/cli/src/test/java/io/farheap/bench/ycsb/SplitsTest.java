package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.ycsb.LogSplits.Split;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.service.MenuFile;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The costs of memory, and the cheapest split of a log for a throughput; rates and prices are the test's own. */
class SplitsTest {

    private static final double ROUNDING = 1e-12;
    private static final long LOG_BYTES = 1 << 30;
    /** A TiB costs 10 and 5 an hour; spot memory costs 1, and the expected cost of its moves. */
    private static final Menu MENU = MenuFile.parse("""
            {"types": [{"name": "client", "cores": 8, "memory": "1t", "price": 10},
                       {"name": "donor", "cores": 8, "memory": "2t", "price": 10, "spot_price": 2, "life": "60m"}],
             "move_price": 0.0001}
            """);

    private static Contestant.Facts facts(double local, double far, long indexBytes) {
        return new Contestant.Facts(local, far, indexBytes, "", "", true);
    }

    @Test
    void localMemoryIsTheClientsAndFarMemoryTheCheapest() {
        MemoryPrices prices = MemoryPrices.of(MENU, null);
        assertEquals("client", prices.localType());
        assertEquals(10, prices.local(), ROUNDING);
        assertEquals("donor, spot", prices.farType());
        assertTrue(prices.far() > 1 && prices.far() <= 1.11, () -> "" + prices.far());
        assertEquals(5, MemoryPrices.of(MENU, "donor").local(), ROUNDING);
        assertEquals(10, prices.withoutIndex(facts(1, 0, LOG_BYTES)), ROUNDING);
        assertEquals(2.5, prices.withoutIndex(facts(0.25, 0, LOG_BYTES)), ROUNDING);
        assertEquals(2.5 + prices.far(), prices.withoutIndex(facts(0.25, 1, LOG_BYTES)), ROUNDING);
        assertEquals(2.5 + 5, prices.withIndex(facts(0.25, 0, LOG_BYTES), 2 * LOG_BYTES), ROUNDING);
    }

    @Test
    void whatTheMenuHasNotIsRefused() {
        assertEquals(
                "--client-type m4: the menu has [client, donor]",
                assertThrows(IllegalArgumentException.class, () -> MemoryPrices.of(MENU, "m4"))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> MemoryPrices.of(Menu.EMPTY, null));
    }

    @Test
    void theCheapestThatReachesAThroughputIsNamed() {
        LogSplits splits = new LogSplits(MemoryPrices.of(MENU, null), LOG_BYTES);
        Split file = new Split("file", 1, 0.5, 100, 5, 4);
        Split far = new Split("far", 1, 0.1, 1000, 2, 1);
        Split faster = new Split("far", 1, 0.5, 2000, 6, 5);
        Split dear = new Split("far", 1, 0.6, 2000, 7, 6);
        Split other = new Split("far", 2, 0.1, 5000, 2, 1);
        List.of(file, far, faster, dear, other).forEach(splits::add);
        assertEquals(List.of(far, faster), splits.worthwhile(1));
        assertEquals(List.of(other), splits.worthwhile(2));
        assertEquals(far, splits.cheapest(1, 50).orElseThrow());
        assertEquals(far, splits.cheapest(1, 1000).orElseThrow());
        assertEquals(faster, splits.cheapest(1, 1001).orElseThrow());
        assertTrue(splits.cheapest(1, 2001).isEmpty());
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        splits.print(new PrintStream(printed, false, StandardCharsets.UTF_8), List.of(1500.0, 3000.0));
        String text = printed.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("wanted 1,500 operations/s, 1 thread: far with 50 % local, for 6.0000"), text);
        assertTrue(text.contains("wanted 3,000 operations/s, 1 thread: none reaches it; far with 50 % local"), text);
        assertTrue(text.contains("wanted 3,000 operations/s, 2 threads: far with 10 % local"), text);
    }

    /** Of two equal splits neither beats the other, so both are worth their price. */
    @Test
    void equalsDoNotBeatEachOther() {
        LogSplits splits = new LogSplits(MemoryPrices.of(MENU, null), LOG_BYTES);
        splits.add(new Split("far", 1, 1, 100, 5, 4));
        splits.add(new Split("file", 1, 1, 100, 5, 4));
        assertEquals(2, splits.worthwhile(1).size());
    }
}
