package io.farheap.kv;

import io.farheap.kv.service.MapCalls;
import io.farheap.remote.RemoteSpace;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * How a process comes to know what its map has grown by. The map's first server says in its beats how often that was.
 * The process asks for the new regions, makes them known to its sessions, and says so in its next beat. When all
 * processes have, the first server says that too, and whoever hears it tells the servers of the new regions to hand
 * them out. So no slot names a block in a region that some process does not know. The keeper's thread.
 */
final class Growing {

    private static final System.Logger LOG = System.getLogger(Growing.class.getName());

    private final List<ServiceLine> lines;
    private final List<RemoteSpace> spaces;
    private final SpaceMemory space;
    /** How many of the growths that are known here all processes have. */
    private long known;
    /** Under way: the new regions are asked for. */
    private @Nullable CompletableFuture<Layout> reaching;
    /** Whether it was said that they cannot be reached. */
    private boolean complained;

    Growing(List<ServiceLine> lines, List<RemoteSpace> spaces, SpaceMemory space) {
        this.lines = lines;
        this.spaces = List.copyOf(spaces);
        this.space = space;
    }

    /**
     * Learns all, and waits for it. Before the thread begins.
     *
     * @throws MapException where the first server does not answer
     */
    void learn() {
        Layout grown = read(lines.getFirst(), space.layout());
        if (grown == null) {
            throw new MapException(spaces.getFirst().server() + " does not say what the map has grown by; try again");
        }
        if (grown.growths() > space.layout().growths()) {
            space.grow(reached(grown), spaces);
        }
    }

    /**
     * Asks what a map has grown by.
     *
     * @param from what is known
     * @return null where there is no answer
     */
    static @Nullable Layout read(ServiceLine line, Layout from) {
        Layout layout = from;
        do {
            if (!line.with(1, layout.growths()).call(MapCalls.LAYOUT, 2)) {
                return null;
            }
            for (int i = 0; i < line.reply(2); i++) {
                layout = layout.with(new Layout.Growth(
                        (int) line.reply(3 + 3 * i), (int) line.reply(4 + 3 * i), (int) line.reply(5 + 3 * i)));
            }
        } while (layout.growths() < line.reply(1) && line.reply(2) > 0);
        return layout;
    }

    /** Has all regions of a layout here. */
    private Layout reached(Layout grown) {
        for (int server = 0; server < spaces.size(); server++) {
            RemoteSpace each = spaces.get(server);
            int wanted = grown.regionsOf(server);
            if (each.regions().size() < wanted && each.refresh().size() < wanted) {
                throw new MapException(each + " has fewer than the " + wanted + " regions that the map has there");
            }
        }
        return grown;
    }

    /** How many growths are known here. */
    int growths() {
        return space.layout().growths();
    }

    /**
     * The first server has said how often the map has grown, and how much of that all processes know.
     *
     * @return whether servers may be told to hand out more
     */
    boolean told(long growths, long ofAll) {
        if (growths > growths() && reaching == null) {
            Layout grown = read(lines.getFirst(), space.layout());
            if (grown != null && grown.growths() > growths()) {
                reach(grown);
            }
        }
        boolean more = ofAll > known;
        known = Math.min(ofAll, growths());
        return more;
    }

    /** On another thread, as sessions wait for this one. */
    private void reach(Layout grown) {
        CompletableFuture<Layout> made = new CompletableFuture<>();
        reaching = made;
        Thread.ofVirtual().name("farheap-map-growth").start(() -> {
            try {
                made.complete(reached(grown));
            } catch (Throwable e) {
                made.completeExceptionally(e);
            }
        });
    }

    boolean underWay() {
        return reaching != null;
    }

    /** @return whether more is known than before, and the first server is to hear it */
    boolean goOn() {
        CompletableFuture<Layout> made = reaching;
        if (made == null || !made.isDone()) {
            return false;
        }
        reaching = null;
        if (made.isCompletedExceptionally()) {
            if (!complained) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the map has grown, and the new memory cannot be reached; goes on trying",
                        made.exceptionNow());
            }
            complained = true;
            return false;
        }
        complained = false;
        space.grow(made.join(), spaces);
        return true;
    }

    /**
     * A server has said how many regions it hands blocks out of: tells it of more.
     *
     * @return whether there are more now
     */
    boolean offer(ServiceLine line, long regions) {
        Layout layout = space.layout();
        long offered = regions;
        for (int i = 0; i < known; i++) {
            Layout.Growth growth = layout.growth(i);
            if (growth.server() == line.number && growth.first() == offered) {
                line.with(1, layout.firstNumber(i)).with(2, growth.first()).with(3, growth.count());
                if (!line.call(MapCalls.OFFER, 4)) {
                    break;
                }
                offered += growth.count();
            }
        }
        return offered > regions;
    }
}
