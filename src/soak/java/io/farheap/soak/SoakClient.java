package io.farheap.soak;

import java.io.IOException;

/** A {@link SoakTenant} in a process of its own. */
public interface SoakClient extends SoakProcess {

    /** The next line that it prints; null where it has ended. */
    String line() throws IOException;

    /**
     * Says something to it.
     *
     * @throws IOException where it has ended
     */
    void tell(String line) throws IOException;
}
