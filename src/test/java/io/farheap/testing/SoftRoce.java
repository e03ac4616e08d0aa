package io.farheap.testing;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Lets softverbs be a RoCE device in each test, and an InfiniBand device again afterwards. */
public final class SoftRoce implements BeforeEachCallback, AfterEachCallback {

    /** The lower half of its IPv6 addresses. */
    private static final String GUID = "0273:6fff:fe66:7476";

    public static final String LINK_LOCAL = "fe80::" + GUID;
    public static final String UNIQUE_LOCAL = "fd00::" + GUID;

    @Override
    public void beforeEach(ExtensionContext context) {
        Softverbs.set("fabric=roce");
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Softverbs.set("fabric=infiniband");
    }
}
