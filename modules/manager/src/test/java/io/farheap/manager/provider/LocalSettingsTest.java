package io.farheap.manager.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LocalSettingsTest {

    private static final long MIB = 1 << 20;
    private static final MachineType SMALL = new MachineType("small", "", 2, 64 * MIB, 1, 0.25, 30, 1, 2);
    private static final MachineType LARGE = new MachineType("large", "d/c/r", 8, 256 * MIB, 4, -1, 30, 1, 2);
    private static final Menu MENU = Menu.of(List.of(SMALL, LARGE), 0, 0, 0);

    private static String refusal(Menu menu, String key, String value) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> LocalSettings.parse(Map.of(key, value), menu))
                        .getMessage());
    }

    @Test
    void aTypeHasWhatTheMenuSaysUnlessASettingDoes() {
        LocalSettings settings =
                LocalSettings.parse(Map.of("region", "1m", "memory.large", "8m", "notice", "5s"), MENU);
        assertEquals(8, settings.servers());
        assertEquals(
                List.of(
                        new MachineOffer("small", false, 1, MIB, 64, "local/local/local", 5_000, 3),
                        new MachineOffer("small", true, 0.25, MIB, 64, "local/local/local", 5_000, 3)),
                settings.lots(SMALL, 3));
        assertEquals(
                List.of(new MachineOffer("large", false, 4, MIB, 8, "d/c/r", 5_000, 3)),
                settings.lots(LARGE, 3),
                "one without a spot price is not let so");
        assertEquals(7_200_000, settings.lifeMillis(SMALL));
        assertEquals(60_000, LocalSettings.parse(Map.of("life", "1m"), MENU).lifeMillis(SMALL));
    }

    @Test
    void aServerRunsAsItsLot() {
        MachineOffer spot = new MachineOffer("small", true, 0.25, MIB, 64, "local/local/local", 5_000, 3);
        assertEquals(
                List.of(
                        "--manager",
                        "h:1",
                        "--type",
                        "small",
                        "--place",
                        "local/local/local",
                        "--notice",
                        "5000ms",
                        "--spot"),
                LocalSettings.options(spot, "h:1"));
    }

    @Test
    void whatMakesNoSenseIsOneSentence() {
        assertTrue(refusal(MENU, "server", "3").contains("has no setting server; there are servers, "));
        assertTrue(refusal(MENU, "life.small", "3s").contains("has no setting life.small"));
        assertTrue(refusal(MENU, "memory.huge", "3g").contains("no such type on the menu"));
        assertTrue(refusal(MENU, "servers", "many").startsWith("servers=many: "));
        assertTrue(refusal(MENU, "servers", "0").contains("at least 1"));
        assertTrue(refusal(MENU, "life", "long").contains("is not a duration"));
        assertTrue(refusal(MENU, "region", "3m").contains("a power of two"));
        assertTrue(refusal(MENU, "region.small", "1g").contains("set memory.small or region.small"));
        assertTrue(refusal(Menu.EMPTY, "servers", "1").contains("name a --menu"));
    }
}
