package io.farheap.verbs;

import io.farheap.posix.Posix;
import io.farheap.verbs.binding.ibverbs;
import org.bytedeco.javacpp.Loader;

import java.io.File;
import java.io.IOException;

/**
 * Which libibverbs is under this process. It is chosen once, by the system property {@code farheap.verbs} or by
 * {@link #choose} before the first device is listed.
 */
public enum VerbsLibrary {

    /** The installed libibverbs: a real device, or the kernel's soft-RoCE. The library's default. */
    SYSTEM,
    /** softverbs, the RDMA device in a library: processes of one host, no NIC, no privilege. */
    SOFT,
    /** {@link #SYSTEM} where it has a device with an active port, else {@link #SOFT}. The command line's default. */
    AUTO;

    public static final String PROPERTY = "farheap.verbs";

    private static final String SYSTEM_SONAME = "libibverbs.so.1";
    private static final String SOFT_RESOURCE = "libsoftverbs.so";
    private static final String BINDING_RESOURCE = "libjniibverbs.so";

    private static VerbsLibrary chosen;
    private static VerbsLibrary loaded;

    /**
     * Chooses the library where the system property does not.
     *
     * @throws IllegalStateException where another one is in use already
     */
    public static synchronized void choose(VerbsLibrary library) {
        if (System.getProperty(PROPERTY) != null) {
            return;
        }
        if (loaded != null && library != AUTO && library != loaded) {
            throw new IllegalStateException("this process already uses the " + loaded + " verbs library; a process uses one");
        }
        chosen = library;
    }

    /**
     * Loads the chosen library, once.
     *
     * @return {@link #SYSTEM} or {@link #SOFT}
     */
    static synchronized VerbsLibrary load() {
        if (loaded == null) {
            loadBinding();
            loaded = load(wanted());
        }
        return loaded;
    }

    /**
     * Where the embedded softverbs library is on the file system: JavaCPP's cache, written on first use.
     *
     * @throws VerbsException where the jar has none for this platform or it cannot be written
     */
    public static File softLibrary() {
        File file = extract(SOFT_RESOURCE);
        if (file == null) {
            throw new VerbsException("this jar has no softverbs for " + Loader.getPlatform()
                + "; build it there (./farheap build), or use a real device with -D" + PROPERTY + "=system");
        }
        return file;
    }

    private static File extract(String library) {
        try {
            return EmbeddedLibrary.file(library);
        } catch (IOException e) {
            throw new VerbsException("cannot extract " + library + " into JavaCPP's cache (" + e.getMessage()
                + "); set -Dorg.bytedeco.javacpp.cachedir= to a writable directory");
        }
    }

    private static VerbsLibrary wanted() {
        String property = System.getProperty(PROPERTY);
        if (property == null) {
            return chosen == null ? SYSTEM : chosen;
        }
        for (VerbsLibrary library : values()) {
            if (library.name().equalsIgnoreCase(property)) {
                return library;
            }
        }
        throw new VerbsException(PROPERTY + "=" + property + " is not one of system, soft, auto");
    }

    private static VerbsLibrary load(VerbsLibrary wanted) {
        return switch (wanted) {
            case SYSTEM -> {
                String error = open(SYSTEM_SONAME);
                if (error != null) {
                    throw new VerbsException("no libibverbs (" + error + "): install it (apt-get install libibverbs1 ibverbs-providers),"
                        + " or choose the software device with -D" + PROPERTY + "=soft");
                }
                yield SYSTEM;
            }
            case SOFT -> {
                String error = open(softLibrary().getPath());
                if (error != null) {
                    throw new VerbsException("cannot load softverbs: " + error);
                }
                yield SOFT;
            }
            case AUTO -> ActivePort.exists() ? load(SYSTEM) : load(SOFT);
        };
    }

    private static void loadBinding() {
        try {
            extract(BINDING_RESOURCE);
            Loader.load(ibverbs.class);
        } catch (UnsatisfiedLinkError e) {
            throw new VerbsException("cannot load Farheap's native binding for " + Loader.getPlatform() + " (" + e.getMessage()
                + "); it is built for linux-x86_64 with glibc, and the javacpp jar with that classifier must be on the class path");
        } catch (ExceptionInInitializerError e) {
            if (e.getCause() instanceof IllegalCallerException) {
                throw new VerbsException(Posix.NATIVE_ACCESS_HELP);
            }
            throw e;
        }
    }

    private static String open(String path) {
        return ibverbs.farheap_verbs_load(path);
    }
}
