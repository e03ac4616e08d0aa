package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.service.commands.MenuWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MenuFileTest {

    private static final String MENU = """
            {"types": [{"name": "m16", "cores": 16, "memory": "64g", "price": 0.8, "spot_price": 0.2, "notice": "120s",
                        "start": "20s", "life": "360m", "place": "dc1/c1"},
                       {"name": "stranded", "memory": "1t", "price": 0}],
             "move_price": 0.0001, "loss_price": 0.01, "loss_per_reclaim": 0.001}
            """;

    @Test
    void aMenuIsRead() {
        Menu menu = MenuFile.parse(MENU);
        assertEquals(new MachineType("m16", "dc1/c1", 16, 64L << 30, 0.8, 0.2, 120, 20, 6), menu.find("m16"));
        assertEquals(new MachineType("stranded", "", 0, 1L << 40, 0, -1, 30, 0, 1), menu.find("stranded"));
        assertEquals(0.0001, menu.movePrice());
        assertEquals(0.01, menu.lossPrice());
        assertEquals(0.001, menu.lossPerReclaim());
        assertEquals(2, menu.types().size());
    }

    @Test
    void whatMakesNoSenseIsRefusedAndNamed() {
        refused("", "not a menu");
        refused("[]", "not a menu");
        refused("{}", "no 'types'");
        refused("{\"types\": 3}", "not a menu");
        refused(MENU.replace("\"price\": 0.8,", ""), "type m16 has no 'price'");
        refused(MENU.replace("\"price\": 0.8", "\"price\": -1"), "price of -1.0");
        refused(MENU.replace("\"price\": 0.8", "\"price\": \"x\""), "not a menu");
        refused(MENU.replace("64g", "64q"), "64q");
        refused(MENU.replace("120s", "soon"), "soon");
        refused(MENU.replace("spot_price", "spotprice"), "'spotprice'");
        refused(MENU.replace("stranded", "m16"), "twice");
        refused(MENU.replace("0.001}", "7}"), "0 to 1");
    }

    private static void refused(String text, String why) {
        String message = assertThrows(IllegalArgumentException.class, () -> MenuFile.parse(text))
                .getMessage();
        assertTrue(message.contains(why), message);
    }

    @Test
    void aFileIsReadAndNamedWhereItIsNone(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("menu.json");
        assertEquals(
                "there is no menu " + file,
                assertThrows(IllegalArgumentException.class, () -> MenuFile.read(file))
                        .getMessage());
        Files.writeString(file, "[]");
        String message = assertThrows(IllegalArgumentException.class, () -> MenuFile.read(file))
                .getMessage();
        assertTrue(message.startsWith("menu " + file + ": it is not a menu"), message);
        Files.writeString(file, MENU);
        assertEquals(MenuFile.parse(MENU), MenuFile.read(file));
    }

    @Test
    void aFileThatChangesIsTakenAndOneThatMakesNoSenseIsSaidOnce(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("menu.json");
        List<Menu> taken = new ArrayList<>();
        List<String> said = new ArrayList<>();
        assertThrows(IllegalArgumentException.class, () -> MenuWatch.of(file, text -> taken.add(MenuFile.parse(text))));
        Files.writeString(file, MENU);
        MenuWatch watch = MenuWatch.of(file, text -> taken.add(MenuFile.parse(text)));
        watch.look(said::add);
        assertEquals(1, taken.size());
        Files.writeString(file, "{");
        watch.look(said::add);
        watch.look(said::add);
        assertEquals(1, said.size());
        Files.writeString(file, MENU.replace("0.8", "0.9"));
        watch.look(said::add);
        assertEquals(0.9, taken.getLast().types().get("m16").price());
        Files.delete(file);
        watch.look(said::add);
        assertEquals(2, said.size());
        assertEquals(2, taken.size());
    }
}
