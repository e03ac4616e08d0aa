package io.farheap.kv.keeper;

import io.farheap.kv.blocks.HeldBlocks;
import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.space.SpaceMemory;
import java.util.function.Predicate;
import org.agrona.collections.Int2ObjectHashMap;

/** Blocks of a process that are to go back to the servers that they lie on. The keeper's thread. */
final class ReturnedBlocks {

    private final MapServers servers;
    private final SpaceMemory space;
    private final Predicate<MapServiceClient> taker;
    private final Int2ObjectHashMap<HeldBlocks> waiting = new Int2ObjectHashMap<>();

    /** @param taker whoever still wants what a {@link MapCalls#TAKE} has given late; false where nobody does */
    ReturnedBlocks(MapServers servers, SpaceMemory space, Predicate<MapServiceClient> taker) {
        this.servers = servers;
        this.space = space;
        this.taker = taker;
    }

    void add(HeldBlocks blocks) {
        for (int i = 0; i < blocks.count(); i++) {
            add(blocks.word(i));
        }
    }

    private void add(long word) {
        int server = space.serverOf(word);
        // What was on a server that has left is nobody's.
        if (servers.of(server) != null) {
            blocks(server).add(word);
        }
    }

    /** A server has left, with its blocks. */
    void forget(int server) {
        waiting.remove(server);
    }

    /** Takes what a session gives back. */
    void collect(Mailbox mailbox) {
        long end = mailbox.backEnd();
        for (long i = mailbox.backFirst(); i < end; i++) {
            add(mailbox.back(i));
        }
        mailbox.wentBack(end);
    }

    /** What has not gone back for certain. */
    void held(HeldBlocks into) {
        for (MapServer server : servers.all()) {
            HeldBlocks blocks = blocks(server.number());
            for (int i = 0; i < blocks.count(); i++) {
                into.add(blocks.word(i));
            }
        }
    }

    private HeldBlocks blocks(int server) {
        return waiting.computeIfAbsent(server, number -> new HeldBlocks());
    }

    boolean isEmpty(int server) {
        return blocks(server).count() == 0;
    }

    /**
     * Calls the servers, each once; what is on one that is to leave waits for what becomes of that.
     *
     * @param all what is on those too
     * @return whether something went back
     */
    boolean give(boolean all) {
        boolean gave = false;
        for (MapServer server : servers.all()) {
            MapServiceClient line = server.line();
            HeldBlocks blocks = blocks(line.number);
            if (line.unanswered()) {
                gave |= again(line, blocks);
            } else if (blocks.count() > 0 && (all || !space.isLeaving(blocks.word(0)))) {
                int n = Math.min(MapCalls.MOST_WORDS, blocks.count());
                line.changing(2, n);
                for (int i = 0; i < n; i++) {
                    line.changing(3 + i, blocks.word(i));
                }
                if (line.change(MapCalls.GIVE, 3 + n)) {
                    blocks.removeFirst(n);
                    gave = true;
                }
            }
        }
        return gave;
    }

    /** A change has not been answered: what it gave goes back, and what it took is somebody's, or goes back too. */
    private boolean again(MapServiceClient line, HeldBlocks blocks) {
        if (!line.again()) {
            return false;
        }
        if (line.unansweredOperation() == MapCalls.GIVE) {
            blocks.removeFirst((int) line.changeWord(2));
        } else if (taker.test(line)) {
            return true;
        } else if (line.reply(1) == MapCalls.SEGMENT) {
            for (int i = 0; i < line.reply(2); i += 2) {
                blocks.addSegment((int) line.changeWord(2), line.reply(3 + i), (int) line.reply(4 + i));
            }
        } else {
            for (int i = 0; i < line.reply(2); i++) {
                blocks.add(line.reply(3 + i));
            }
        }
        return true;
    }
}
