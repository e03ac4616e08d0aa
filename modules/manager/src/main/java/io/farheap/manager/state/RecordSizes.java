package io.farheap.manager.state;

import java.util.stream.Stream;

/** Bounds of the bytes that changes take in a write, computed without encoding them. */
public final class RecordSizes {

    /** Keys, numbers and flags of any record, and what ZooKeeper needs for each operation. */
    private static final int OVERHEAD = 600;
    /** A character of a value becomes at most a backslash, a letter and four digits. */
    private static final int ESCAPED = 6;
    /** UTF-8 has at most this many bytes for a character, of which a pair takes 4. */
    private static final int UTF8 = 3;
    /** A server's 16 digits, a number of at most 10 digits, and two separators. */
    private static final int SHARE = 28;
    /** A server's 16 digits and a separator. */
    private static final int LEFT = 17;
    /** Two doubles of at most 24 characters, two numbers of at most 10 digits, and four separators. */
    private static final int LIFE = 72;

    private RecordSizes() {}

    /** Returns a number that is not less than the bytes of a change in a write, its path and overhead included. */
    public static int most(StateChange change) {
        return OVERHEAD
                + switch (change) {
                    case StateChange.PutServer put ->
                        escaped(
                                put.server().address(),
                                put.server().type(),
                                put.server().place());
                    case StateChange.PutCache put -> cache(put.cache());
                    // The text is stored as it is, and the key is part of the path.
                    case StateChange.PutModel put ->
                        UTF8 * (put.model().text().length() + put.model().key().length());
                    case StateChange.PutMenu put -> UTF8 * put.text().length();
                    case StateChange.PutLife put ->
                        // The path has two digits for each byte of the type.
                        escaped(put.life().type())
                                + 2 * UTF8 * put.life().type().length()
                                + LIFE * put.life().seen().size();
                    case StateChange.PutTenant put ->
                        // It is part of the path, too.
                        2 * escaped(put.tenant().name());
                    case StateChange.RemoveTenant remove -> escaped(remove.name());
                    case StateChange.RemoveModel remove -> UTF8 * remove.key().length();
                    case StateChange.RemoveServer _, StateChange.RemoveCache _ -> 0;
                };
    }

    private static int cache(CacheRecord cache) {
        CachePlan plan = cache.plan();
        return escaped(cache.name(), cache.terms().place(), cache.terms().tenant())
                + SHARE * (cache.regions().size() + cache.reserved().size())
                + (plan == null ? 0 : LEFT * plan.left().size());
    }

    private static int escaped(String... texts) {
        return ESCAPED * Stream.of(texts).mapToInt(String::length).sum();
    }
}
