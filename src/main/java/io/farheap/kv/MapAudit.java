package io.farheap.kv;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.keeper.MapKeeperTasks;
import io.farheap.kv.keeper.MapServer;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.MapServiceClient;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** How many blocks of a map are free, held by sessions, named by slots or lost. As a text, these counts. */
public final class MapAudit {

    static final MapAudit NONE = new MapAudit(BlockAudit.NONE, Set.of());

    private final BlockAudit account;
    private final Set<Long> twice;

    private MapAudit(BlockAudit account, Set<Long> twice) {
        this.account = account;
        this.twice = twice;
    }

    /** Blocks in the servers' pools. */
    public long pooled() {
        return account.pooled();
    }

    /**
     * Blocks that sessions hold: free, not cut from their segment yet, or of a request under way; of a leased map,
     * those that are no object's any more, and leased.
     */
    public long held() {
        return account.held();
    }

    /** Blocks that slots name: those of live objects. */
    public long named() {
        return account.named();
    }

    /** Blocks that had no owner, and that servers have now put into their pools. */
    public long lost() {
        return account.lost();
    }

    /** Words of slots and sessions that name a block which does not exist. */
    public long wrong() {
        return account.wrong();
    }

    /**
     * Places of blocks that seem to have two owners, or some of these places if they are many. A block that changes
     * hands during the audit looks like one.
     */
    public Set<Long> twice() {
        return twice;
    }

    /** What the servers of a leased map have found. */
    static MapAudit of(BlockAudit account) {
        return new MapAudit(account, Set.of());
    }

    /** Has every server account for its blocks. */
    static MapAudit of(MapServers servers, MapKeeperTasks keeper) {
        Map<MapServiceClient, Long> tickets = new LinkedHashMap<>();
        for (MapServer server : servers.all()) {
            MapServiceClient line = server.line();
            tickets.put(
                    line,
                    keeper.ask(
                            line,
                            () -> line.with(1, 0).call(MapCalls.AUDIT, 2)
                                    ? Optional.of(line.reply(1))
                                    : Optional.empty()));
        }
        MapAudit all = NONE;
        for (MapServiceClient line : tickets.keySet()) {
            long ticket = Objects.requireNonNull(tickets.get(line));
            all = all.plus(keeper.ask(
                    line,
                    () -> line.with(1, ticket).call(MapCalls.AUDIT, 2) && line.reply(1) != 0
                            ? Optional.of(of(line))
                            : Optional.empty()));
        }
        return all;
    }

    /** The result in a reply to {@link MapCalls#AUDIT}. */
    static MapAudit of(MapServiceClient line) {
        long[] words = new long[BlockAudit.WORDS];
        for (int i = 0; i < words.length; i++) {
            words[i] = line.reply(2 + i);
        }
        Set<Long> twice = new HashSet<>();
        for (int i = 0; i < line.reply(2 + BlockAudit.WORDS); i++) {
            twice.add(SlotWord.place(line.reply(3 + BlockAudit.WORDS + i)));
        }
        return new MapAudit(BlockAudit.of(words, 0), twice);
    }

    MapAudit plus(MapAudit other) {
        Set<Long> both = new HashSet<>(twice);
        both.addAll(other.twice);
        return new MapAudit(account.plus(other.account), both);
    }

    /** This result, but with those blocks of two owners alone that the previous audit found too. */
    MapAudit after(MapAudit before) {
        Set<Long> both = new HashSet<>(twice);
        both.retainAll(before.twice);
        return new MapAudit(account, both);
    }

    /** Whether no block changed hands during the audit: each was found exactly once. */
    public boolean quiet() {
        return twice.isEmpty() && account.adds();
    }

    /**
     * Whether the audit found nothing wrong. If other processes use the map meanwhile, this is all that an audit can
     * tell.
     */
    public boolean sound() {
        return twice.isEmpty() && account.wrong() == 0;
    }

    @Override
    public String toString() {
        return account.toString();
    }
}
