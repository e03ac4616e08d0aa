package io.farheap.kv.format;

import java.util.List;

/** How a map's clients and servers share the work. A map has its engine from its creation on. */
public enum MapEngine {
    /** Clients change the map with one-sided operations, without the servers' processors. */
    DISAGGREGATED(1),
    /** Servers change the map, and clients read what is used often by one READ, under leases. */
    LEASED(2);

    private final int number;

    MapEngine(int number) {
        this.number = number;
    }

    /**
     * The engine of a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static MapEngine of(String name) {
        for (MapEngine engine : values()) {
            if (engine.toString().equals(name)) {
                return engine;
            }
        }
        throw new IllegalArgumentException("there is no engine " + name + "; take one of " + List.of(values()));
    }

    /** Its number in a map's descriptor. */
    public int number() {
        return number;
    }

    /** Its name in commands. */
    @Override
    public String toString() {
        return this == DISAGGREGATED ? "disaggregated" : "leased";
    }
}
