package io.farheap.bench.resilience;

import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** A random group of servers for each page, a split on each (Hydra, FAST '22, section 5). Any thread. */
final class RandomGroups implements AutoCloseable {

    private final PageLayout layout;
    private final int slotsOfRegion;
    private final SideRegions regions;
    /** By page and split: the region's number. */
    private final int[] region;
    /** By page and split: the slot in that region. */
    private final int[] slot;

    RandomGroups(RemoteMemory memory, PageLayout layout, int pages) {
        this.layout = layout;
        List<RemoteServer> servers = memory.servers();
        this.slotsOfRegion = (int) (servers.getFirst().description().regionBytes() / layout.slotBytes());
        this.regions = new SideRegions(memory);
        this.region = new int[pages * layout.splits()];
        this.slot = new int[pages * layout.splits()];
        try {
            place(servers, pages);
        } catch (Throwable e) {
            Closeables.after(e, regions);
            throw e;
        }
    }

    private void place(List<RemoteServer> servers, int pages) {
        int count = servers.size();
        SplittableRandom random = new SplittableRandom(1);
        int[] shuffled = IntStream.range(0, count).toArray();
        int[] used = new int[count];
        int[] newest = new int[count];
        int taken = 0;
        for (int page = 0; page < pages; page++) {
            for (int split = 0; split < layout.splits(); split++) {
                int other = split + random.nextInt(count - split);
                int server = shuffled[other];
                shuffled[other] = shuffled[split];
                shuffled[split] = server;
                if (used[server] % slotsOfRegion == 0) {
                    regions.take(servers.get(server));
                    newest[server] = taken++;
                }
                int at = page * layout.splits() + split;
                region[at] = newest[server];
                slot[at] = used[server]++ % slotsOfRegion;
            }
        }
    }

    SideRegions regions() {
        return regions;
    }

    RemoteRegion region(int page, int split) {
        return regions.get(region[page * layout.splits() + split]);
    }

    /** Returns a split's offset in its region. */
    long offset(int page, int split) {
        return (long) slot[page * layout.splits() + split] * layout.slotBytes();
    }

    @Override
    public void close() {
        regions.close();
    }
}
