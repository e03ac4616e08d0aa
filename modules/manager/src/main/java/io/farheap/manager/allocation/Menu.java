package io.farheap.manager.allocation;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The types of machines, and what moving and losing data costs. Immutable.
 *
 * @param types by name
 * @param movePrice of moving a GiB once: the price of the load that it puts on other work
 * @param lossPrice of losing a GiB
 * @param lossPerReclaim the part of the data on a spot machine that is lost when the machine is taken back, 0 to 1
 */
public record Menu(Map<String, MachineType> types, double movePrice, double lossPrice, double lossPerReclaim) {

    /** A menu without types: all machines cost the same. */
    public static final Menu EMPTY = new Menu(Map.of(), 0, 0, 0);

    public Menu {
        types = Map.copyOf(types);
        if (!(movePrice >= 0) || !(lossPrice >= 0) || !(lossPerReclaim >= 0 && lossPerReclaim <= 1)) {
            throw new IllegalArgumentException("prices of " + movePrice + " for a move and " + lossPrice
                    + " for a loss, of which a reclaim costs " + lossPerReclaim
                    + "; the first two are at least 0, the last is 0 to 1");
        }
    }

    /** @throws IllegalArgumentException if two types have the same name */
    public static Menu of(Collection<MachineType> types, double movePrice, double lossPrice, double lossPerReclaim) {
        Map<String, MachineType> byName = new LinkedHashMap<>();
        for (MachineType type : types) {
            if (byName.put(type.name(), type) != null) {
                throw new IllegalArgumentException("type " + type.name() + " is on the menu twice");
            }
        }
        return new Menu(byName, movePrice, lossPrice, lossPerReclaim);
    }

    /** Returns null if there is no type of this name. */
    @Nullable
    public MachineType find(String type) {
        return types.get(type);
    }
}
