package io.farheap.tier.device;

import io.farheap.posix.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * A {@link Storage} in memory that records what was not synced, and returns a state that a power cut may leave. Of the
 * writes to a file since its last sync, any subset survives, in any order, each torn at 512 bytes; of the changes of
 * the directory since its last sync, any subset survives. A file is as long as its surviving writes make it. A rename
 * is two changes, which survive independently: the file has the old name, the new one, both or none.
 *
 * <p>Any thread may use it, and {@link #cut} may be called at any moment, while other threads write.
 */
public final class RecordingStorage implements Storage {

    private static final int SECTOR_BYTES = 512;
    private static final int BLOCK_BYTES = 4096;

    /** A file without its name: it stays the same object if the file is renamed. */
    private static final class Content {

        /** The bytes that a read returns; {@code durable} has the bytes of the last sync. */
        private byte[] now = {};

        private byte[] durable = {};
        private final List<Write> unsynced = new ArrayList<>();
    }

    private record Write(int position, byte[] bytes) {}

    /** A change of the directory: the content that a name has from then on; null if the name was removed. */
    private record Change(String name, Content content) {}

    private final Map<String, Content> names = new TreeMap<>();
    private final Map<String, Content> durableNames = new TreeMap<>();
    private final List<Change> changes = new ArrayList<>();
    private Predicate<String> lies = name -> false;
    private int operations;
    private int failAt = Integer.MAX_VALUE;
    /** The operations on the directory that fail, and how many of them still do. */
    private Predicate<String> failing = what -> false;

    private int failures;
    private long quota = Long.MAX_VALUE;
    private long refused;

    public RecordingStorage() {}

    /**
     * Cuts the power after this number of further operations: from then on no operation takes effect. Writes and syncs
     * of a file return an error, and changes of the directory throw.
     */
    public synchronized void stopAfter(int more) {
        failAt = operations + more;
    }

    /**
     * Makes the next operations on the directory of some kind fail; they change nothing.
     *
     * @param what whether an operation fails, by its description: {@code create}, {@code delete} or {@code rename} with
     *     the file's name, or {@code sync the directory}
     */
    public synchronized void fail(Predicate<String> what, int times) {
        failing = what;
        failures = times;
    }

    /** Refuses writes, as a full disk does, that would give all files together more bytes than these. */
    public synchronized void limit(long bytes) {
        quota = bytes;
    }

    /** How many writes were refused since there was no room for them. */
    public synchronized long refused() {
        return refused;
    }

    /** Syncs of these files report success and make nothing durable, like disks that lie about it. */
    public synchronized void dropSyncs(Predicate<String> files) {
        lies = files;
    }

    /** @return how many operations were called so far, reads not counted */
    public synchronized int operations() {
        return operations;
    }

    public synchronized boolean isCut() {
        return operations > failAt;
    }

    private long bytes() {
        return names.values().stream().mapToLong(content -> content.now.length).sum();
    }

    private boolean stopped() {
        return ++operations > failAt;
    }

    private void checkGoing(String what) {
        if (stopped()) {
            throw new StorageException("cannot " + what + ": the power is cut");
        }
        if (failures > 0 && failing.test(what)) {
            failures--;
            throw new StorageException("cannot " + what + ": EIO");
        }
    }

    /** @return a state that a power cut may leave now, all of it durable, as a new process finds it */
    public synchronized RecordingStorage cut(Random random) {
        Map<Content, Content> after = new HashMap<>();
        Map<String, Content> left = new TreeMap<>(durableNames);
        List<Change> some = new ArrayList<>(changes);
        some.removeIf(change -> random.nextBoolean());
        // Of several surviving changes of one name, the last one counts.
        for (Change change : some) {
            if (change.content == null) {
                left.remove(change.name);
            } else {
                left.put(change.name, change.content);
            }
        }
        RecordingStorage storage = new RecordingStorage();
        left.forEach((name, content) ->
                storage.names.put(name, after.computeIfAbsent(content, lost -> survivor(lost, random))));
        storage.durableNames.putAll(storage.names);
        return storage;
    }

    private static Content survivor(Content content, Random random) {
        Content left = new Content();
        left.now = content.durable.clone();
        List<Write> writes = new ArrayList<>(content.unsynced);
        java.util.Collections.shuffle(writes, random);
        int share = random.nextInt(4);
        for (Write write : writes) {
            for (int at = 0; at < write.bytes.length; at += SECTOR_BYTES) {
                if (random.nextInt(3) < share) {
                    int length = Math.min(SECTOR_BYTES, write.bytes.length - at);
                    left.now = put(left.now, write.position + at, Arrays.copyOfRange(write.bytes, at, at + length));
                }
            }
        }
        left.durable = left.now.clone();
        return left;
    }

    private static byte[] put(byte[] into, int position, byte[] bytes) {
        byte[] whole = into.length >= position + bytes.length ? into : Arrays.copyOf(into, position + bytes.length);
        System.arraycopy(bytes, 0, whole, position, bytes.length);
        return whole;
    }

    @Override
    public String name() {
        return "recorded files";
    }

    @Override
    public int alignment() {
        return BLOCK_BYTES;
    }

    @Override
    public String remark() {
        return "recorded";
    }

    @Override
    public synchronized List<String> list() {
        return List.copyOf(names.keySet());
    }

    @Override
    public synchronized StoredFile create(String name) {
        checkGoing("create " + name);
        if (names.containsKey(name)) {
            throw new StorageException("cannot create " + name + ": it is there");
        }
        Content content = new Content();
        names.put(name, content);
        changes.add(new Change(name, content));
        return new Opened(name, content);
    }

    @Override
    public synchronized StoredFile open(String name) {
        return new Opened(name, content(name));
    }

    private Content content(String name) {
        Content content = names.get(name);
        if (content == null) {
            throw new StorageException("cannot open " + name + ": it is not there");
        }
        return content;
    }

    @Override
    public synchronized void rename(String from, String to) {
        checkGoing("rename " + from);
        Content content = content(from);
        names.remove(from);
        names.put(to, content);
        changes.add(new Change(to, content));
        changes.add(new Change(from, null));
    }

    @Override
    public synchronized void delete(String name) {
        checkGoing("delete " + name);
        content(name);
        names.remove(name);
        changes.add(new Change(name, null));
    }

    @Override
    public synchronized void sync() {
        checkGoing("sync the directory");
        durableNames.clear();
        durableNames.putAll(names);
        changes.clear();
    }

    @Override
    public void close() {}

    private final class Opened implements StoredFile {

        private final String name;
        private final Content content;

        Opened(String name, Content content) {
            this.name = name;
            this.content = content;
        }

        @Override
        public int descriptor() {
            return -1;
        }

        @Override
        public long size() {
            synchronized (RecordingStorage.this) {
                return content.now.length;
            }
        }

        @Override
        public long read(long position, MemorySegment memory, long offset, long length) {
            synchronized (RecordingStorage.this) {
                int count = (int) Math.clamp(content.now.length - position, 0, length);
                if (count == 0) {
                    return 0;
                }
                MemorySegment.copy(content.now, (int) position, memory, ValueLayout.JAVA_BYTE, offset, count);
                return count;
            }
        }

        @Override
        public long write(long position, MemorySegment memory, long offset, long length) {
            synchronized (RecordingStorage.this) {
                if (stopped()) {
                    return -Errno.EIO;
                }
                if (bytes() + Math.max(0, position + length - content.now.length) > quota) {
                    refused++;
                    return -Errno.ENOSPC;
                }
                byte[] bytes = new byte[(int) length];
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset, bytes, 0, bytes.length);
                Write write = new Write((int) position, bytes);
                content.unsynced.add(write);
                content.now = put(content.now, write.position, bytes);
                return length;
            }
        }

        @Override
        public int sync() {
            synchronized (RecordingStorage.this) {
                if (stopped()) {
                    return Errno.EIO;
                }
                if (!lies.test(name)) {
                    content.durable = content.now.clone();
                    content.unsynced.clear();
                }
                return 0;
            }
        }

        @Override
        public void close() {}
    }
}
