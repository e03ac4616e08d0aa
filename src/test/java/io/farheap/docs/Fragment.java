package io.farheap.docs;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.kv.FarMap;
import io.farheap.remote.RemoteMemory;
import io.farheap.server.MemoryServer;
import io.farheap.store.FarStore;

/** The variables that a page's fragment of Java may use without declaring them. */
abstract class Fragment {

    String[] servers;
    Cache cache;
    CacheSession session;
    Buffer buffer;
    FarMap map;
    FarStore store;
    RemoteMemory memory;
    MemoryServer memoryServer;
}
