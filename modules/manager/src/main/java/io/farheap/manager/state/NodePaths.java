package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The paths of all nodes. Caches are divided into buckets: a list of all of them would be longer than ZooKeeper sends
 * at once.
 */
final class NodePaths {

    static final String ROOT = "/farheap";
    /** Its version is the epoch, which every write checks; its content is an {@link EpochStatus}. */
    static final String EPOCH = ROOT + "/epoch";
    /** Its content names the last write. */
    static final String WRITES = ROOT + "/writes";

    static final String SERVERS = ROOT + "/servers";
    static final String CACHES = ROOT + "/caches";
    /** The operator's text, unchanged. */
    static final String MENU = ROOT + "/menu";

    /** The models' texts, unchanged, by key. */
    static final String MODELS = ROOT + "/models";

    static final String TENANTS = ROOT + "/tenants";

    static final String LIVES = ROOT + "/lives";

    /**
     * A node of the session that is copying the state elsewhere; it exists while that session lives. It is not part of
     * the state.
     */
    static final String COPYING = ROOT + "-copying";

    static final int BUCKETS = 256;

    private NodePaths() {}

    /** Returns 16 hexadecimal digits. */
    static String hex(long id) {
        return HexFormat.of().toHexDigits(id);
    }

    static String server(long id) {
        return SERVERS + "/" + hex(id);
    }

    static String cache(long id) {
        return bucket((int) id & 0xff) + "/" + hex(id);
    }

    static String model(String key) {
        return MODELS + "/" + key;
    }

    static String tenant(String name) {
        return TENANTS + "/" + name;
    }

    /** Returns the path of a type of machines, whatever characters its name has. */
    static String life(String type) {
        return LIVES + "/x" + HexFormat.of().formatHex(type.getBytes(StandardCharsets.UTF_8));
    }

    static String bucket(int number) {
        return CACHES + "/" + HexFormat.of().toHexDigits((byte) number);
    }

    static List<String> buckets() {
        List<String> buckets = new ArrayList<>(BUCKETS);
        for (int i = 0; i < BUCKETS; i++) {
            buckets.add(bucket(i));
        }
        return buckets;
    }

    /** Returns the nodes that exist before any record, parents first. */
    static List<String> layout() {
        List<String> layout =
                new ArrayList<>(List.of(ROOT, EPOCH, WRITES, SERVERS, CACHES, MENU, MODELS, TENANTS, LIVES));
        layout.addAll(buckets());
        return layout;
    }
}
