package io.farheap.store;

import io.farheap.lifetime.CloseStack;
import io.farheap.tier.Device;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A key-value store whose newest data are in memory and whose older data are on a {@link Device}: far memory, a file,
 * or both (Redy, section 8; FASTER, SIGMOD 2018). Any thread may open {@linkplain #openSession sessions}.
 */
public final class FarStore implements AutoCloseable {

    private final StoreParts parts;
    private final Frames frames;
    private final LogThread logThread;
    private final SessionOptions options;
    private final Set<StoreSession> sessions = ConcurrentHashMap.newKeySet();
    private final CloseStack resources = new CloseStack();

    FarStore(FarStoreBuilder how) {
        Device device = how.device();
        Epochs epochs = new Epochs();
        try {
            this.frames = resources.add(new Frames(device, how.pageBits(), how.pages()));
            HashIndex index = resources.add(new HashIndex(how.buckets()));
            HybridLog log = new HybridLog(frames, epochs, how.layout(), HybridLog.FIRST);
            this.parts = new StoreParts(device, index, log, epochs, new StoreVersion(1));
            this.logThread = resources.add(new LogThread(how.name(), log, device, how.mutableShare()));
            this.options = how.sessions();
            logThread.start();
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    public static FarStoreBuilder builder() {
        return new FarStoreBuilder();
    }

    /** A session, which whoever opens it closes. */
    public StoreSession openSession() {
        StoreSession session = new StoreSession(sessions::remove, parts, logThread, options);
        sessions.add(session);
        return session;
    }

    /** Bytes of local memory that the index has. */
    public long indexBytes() {
        return parts.index().bytes();
    }

    /** Bytes of the log: of live records, of those that were replaced, and of what pages have left at their ends. */
    public long logBytes() {
        return parts.log().tail() - parts.log().marks.begin();
    }

    /** Bytes of the log that are in memory. */
    public long logBytesInMemory() {
        return parts.log().tail() - parts.log().marks.head();
    }

    /** Closes sessions, without waiting for what they have pending, and gives memory back. The device stays open. */
    @Override
    public void close() {
        CloseStack everything = new CloseStack();
        everything.add(resources);
        sessions.forEach(session -> everything.add(session::end));
        everything.close();
    }
}
