package io.farheap.kv;

import io.farheap.kv.service.MapCalls;
import java.util.ArrayList;
import java.util.List;

/** Blocks of a process that are to go back to the servers that they lie on. The keeper's thread. */
final class GivenBack {

    private static final long AGAIN_NANOS = 1_000_000_000;

    private final List<ServiceLine> lines;
    private final SpaceMemory space;
    private final List<HeldBlocks> waiting = new ArrayList<>();
    private final long[] againAt;

    GivenBack(List<ServiceLine> lines, SpaceMemory space) {
        this.lines = lines;
        this.space = space;
        againAt = new long[lines.size()];
        lines.forEach(line -> waiting.add(new HeldBlocks()));
    }

    void add(HeldBlocks blocks) {
        for (int i = 0; i < blocks.count(); i++) {
            add(blocks.word(i));
        }
    }

    private void add(long word) {
        waiting.get(space.serverOf(word)).add(word);
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
        for (HeldBlocks blocks : waiting) {
            for (int i = 0; i < blocks.count(); i++) {
                into.add(blocks.word(i));
            }
        }
    }

    boolean isEmpty(int server) {
        return waiting.get(server).count() == 0;
    }

    /** Calls the servers, each once. @return whether something went back */
    boolean give() {
        boolean gave = false;
        for (ServiceLine line : lines) {
            HeldBlocks blocks = waiting.get(line.number);
            if (line.unanswered()) {
                gave |= again(line, blocks);
            } else if (blocks.count() > 0) {
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

    /** A change has not been answered: what it gave goes back, and what it took back is away. */
    private boolean again(ServiceLine line, HeldBlocks blocks) {
        long now = System.nanoTime();
        if (now - againAt[line.number] < 0) {
            return false;
        }
        againAt[line.number] = now + AGAIN_NANOS;
        if (!line.again()) {
            return false;
        }
        if (line.unansweredOperation() == MapCalls.GIVE) {
            blocks.removeFirst((int) line.changeWord(2));
        } else if (line.reply(1) == MapCalls.SEGMENT) {
            int units = SizeClasses.units((int) line.changeWord(2));
            blocks.addCut(line.reply(3), (int) line.reply(4) / BlockFormat.UNIT_BYTES / units, units);
        } else {
            for (int i = 0; i < line.reply(2); i++) {
                blocks.add(line.reply(3 + i));
            }
        }
        return true;
    }
}
