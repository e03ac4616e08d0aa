package io.farheap.manager.state;

import io.farheap.memory.Plurals;
import java.util.HashSet;
import java.util.Set;

/** Counts the records of a state by kind. One thread. */
public final class StateStatistics {

    private static final Set<String> LAYOUT = new HashSet<>(NodePaths.layout());

    private long servers;
    private long caches;
    private long models;
    private long quotas;
    private long lives;
    private boolean menu;
    /** Records of a newer release. */
    private long unknown;

    StateStatistics() {}

    void add(String path, byte[] data) {
        if (path.equals(NodePaths.MENU)) {
            menu = data.length > 0;
        } else if (!LAYOUT.contains(path)) {
            switch (kind(path)) {
                case NodePaths.SERVERS -> servers++;
                case NodePaths.CACHES -> caches++;
                case NodePaths.MODELS -> models++;
                case NodePaths.TENANTS -> quotas++;
                case NodePaths.LIVES -> lives++;
                default -> unknown++;
            }
        }
    }

    /** @throws MalformedRecordException if it is a record that managers of this release cannot read */
    static void requireReadable(String path, byte[] data) {
        if (LAYOUT.contains(path)) {
            return;
        }
        switch (kind(path)) {
            case NodePaths.SERVERS -> RecordFormat.server(path, data);
            case NodePaths.CACHES -> RecordFormat.cache(path, data);
            case NodePaths.TENANTS -> RecordFormat.tenant(path, data);
            case NodePaths.MODELS -> RecordFormat.model(path, data);
            case NodePaths.LIVES -> RecordFormat.life(path, data);
            default -> {}
        }
    }

    /** Returns the node of the layout below which a path is. */
    private static String kind(String path) {
        int end = path.indexOf('/', NodePaths.ROOT.length() + 1);
        return end < 0 ? path : path.substring(0, end);
    }

    boolean isEmpty() {
        return servers + caches + models + quotas + lives + unknown == 0 && !menu;
    }

    long caches() {
        return caches;
    }

    long servers() {
        return servers;
    }

    /** Returns a text such as {@code 3 servers, 1 cache, 0 models, 0 quotas, a menu}. */
    @Override
    public String toString() {
        return Plurals.of(servers, "server") + ", " + Plurals.of(caches, "cache") + ", " + Plurals.of(models, "model")
                + ", "
                + Plurals.of(quotas, "quota") + ", " + (menu ? "a menu" : "no menu")
                + (unknown == 0 ? "" : ", " + Plurals.of(unknown, "node") + " of another release");
    }
}
