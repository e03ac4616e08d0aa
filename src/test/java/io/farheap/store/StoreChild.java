package io.farheap.store;

import io.farheap.store.contract.CheckpointKind;
import io.farheap.tier.FileDevice;
import io.farheap.tier.device.FileOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * The process of {@link StoreKillsTest}, which uses a store until it is killed. After each checkpoint it prints a line
 * with the durable serial number of each session.
 */
final class StoreChild {

    static final int SESSIONS = 2;

    private StoreChild() {}

    /** @return a builder of the store in a directory, with little memory, so that most of the store is on the disk */
    static FarStoreBuilder how(FileDevice device, Path directory, boolean general) {
        FarStoreBuilder how = FarStore.builder()
                .device(device)
                .directory(directory.resolve("checkpoints"))
                .pageBytes(4096)
                .memory(8 * 4096)
                .expectedKeys(32)
                .pending(16);
        return general ? how.records(8, 24) : how;
    }

    static FileDevice device(Path directory) {
        return FileDevice.open(
                directory.resolve("log"),
                1 << 14,
                FileOptions.DEFAULT.withThreads(2).withRequests(32));
    }

    /** @param args the directory; whether values have any length; a seed, which also chooses the kind of checkpoints */
    public static void main(String[] args) throws Exception {
        Thread.ofPlatform().daemon().start(StoreChild::endWithTheParent);
        try {
            run(args);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void endWithTheParent() {
        try {
            System.in.readAllBytes();
        } catch (IOException e) {
            // The parent has ended.
        }
        Runtime.getRuntime().halt(2);
    }

    private static void run(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        boolean general = Boolean.parseBoolean(args[1]);
        SplittableRandom random = new SplittableRandom(Long.parseLong(args[2]));
        FileDevice device = device(directory);
        CheckpointKind[] kinds = CheckpointKind.values();
        FarStore store = how(device, directory, general)
                .checkpoints(kinds[random.nextInt(kinds.length)])
                .indexInCheckpoints(random.nextBoolean())
                .open();
        StoreSession[] sessions = new StoreSession[SESSIONS];
        for (int i = 0; i < SESSIONS; i++) {
            sessions[i] = store.openSession(PrefixLoad.name(i));
        }
        for (int i = 0; i < SESSIONS; i++) {
            int number = i;
            Thread.ofPlatform().start(() -> load(sessions[number], number, general));
        }
        while (true) {
            if (random.nextInt(3) == 0) {
                store.compact(random.nextLong(store.logBytes() + 1));
            }
            store.checkpoint();
            StringBuilder line = new StringBuilder();
            for (StoreSession session : sessions) {
                line.append(session.durableSerial()).append(' ');
            }
            System.out.println(line);
            System.out.flush();
            Thread.sleep(random.nextInt(20));
        }
    }

    private static void load(StoreSession session, int number, boolean general) {
        try {
            PrefixLoad load = new PrefixLoad(general, SESSIONS);
            MemorySegment memory = Arena.ofAuto().allocate(PrefixLoad.room());
            while (true) {
                load.next(session, number, memory);
                if (session.serial() % 8 == 0) {
                    session.poll();
                }
            }
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
