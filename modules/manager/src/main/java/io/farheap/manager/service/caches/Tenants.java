package io.farheap.manager.service.caches;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Quota;
import io.farheap.manager.Tenant;
import io.farheap.manager.service.journal.Journal;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.TenantRecord;
import io.farheap.memory.ByteSize;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The quotas of tenants, and the caches and bytes that they use. A cache counts with its capacity, or with the one to
 * which it grows, from when it is put into {@link Caches} until it is ended or removed there. Guarded by the manager's
 * lock.
 */
public final class Tenants {

    private record Use(long bytes, long caches) {
        static final Use NOTHING = new Use(0, 0);

        Use plus(long moreBytes, long moreCaches) {
            return new Use(bytes + moreBytes, caches + moreCaches);
        }
    }

    private final Journal journal;
    private final Map<String, Quota> quotas = new TreeMap<>();
    private final Map<String, Use> uses = new HashMap<>();

    public Tenants(Journal journal) {
        this.journal = journal;
    }

    /** Replaces all quotas by those on disk; the caches are counted again. */
    public void load(List<TenantRecord> stored) {
        quotas.clear();
        uses.clear();
        stored.forEach(tenant -> quotas.put(tenant.name(), new Quota(tenant.bytes(), tenant.caches())));
    }

    /**
     * A cache has changed.
     *
     * @param before null if there was no such cache
     * @param after null if there is no such cache any more
     */
    void count(@Nullable CacheRecord before, @Nullable CacheRecord after) {
        add(before, -1);
        add(after, 1);
    }

    private void add(@Nullable CacheRecord cache, int times) {
        if (cache != null) {
            Use use = use(cache.terms().tenant()).plus(times * bytes(cache), times);
            if (use.equals(Use.NOTHING)) {
                uses.remove(cache.terms().tenant());
            } else {
                uses.put(cache.terms().tenant(), use);
            }
        }
    }

    private Use use(String tenant) {
        return uses.getOrDefault(tenant, Use.NOTHING);
    }

    private static long bytes(CacheRecord cache) {
        return Math.max(cache.capacity(), cache.wanted());
    }

    /** @throws ControlException OUT_OF_MEMORY if the quota does not allow one more cache, or not of this many bytes */
    public void requireNew(String tenant, long bytes) {
        Quota quota = quotas.getOrDefault(tenant, Quota.NONE);
        Use use = use(tenant);
        if (quota.caches() <= use.caches()) {
            throw refusal(
                    "tenant " + tenant + " has " + use.caches() + " caches, and its quota is " + quota.caches()
                            + "; close some of them, or raise the quota",
                    tenant);
        }
        requireBytes(tenant, bytes);
    }

    /** @throws ControlException OUT_OF_MEMORY if a cache of this many bytes is larger than its tenant's quota allows */
    public void requireLarger(CacheRecord cache, long bytes) {
        long more = bytes - bytes(cache);
        if (more > 0) {
            requireBytes(cache.terms().tenant(), more);
        }
    }

    private void requireBytes(String tenant, long more) {
        Quota quota = quotas.getOrDefault(tenant, Quota.NONE);
        Use use = use(tenant);
        if (quota.bytes() != Quota.UNLIMITED && more > quota.bytes() - use.bytes()) {
            throw refusal(
                    "tenant " + tenant + " has " + ByteSize.text(use.bytes()) + " and asks for " + ByteSize.text(more)
                            + " more, and its quota is " + ByteSize.text(quota.bytes())
                            + "; ask for less, close or shrink some of its caches, or raise the quota",
                    tenant);
        }
    }

    private static ControlException refusal(String why, String tenant) {
        return new ControlException(Code.OUT_OF_MEMORY, why + " with 'farheap manager tenant " + tenant + "'");
    }

    /** Sets a tenant's quota, and returns the tenant; {@link Quota#NONE} removes the limits. */
    public Tenant set(String tenant, Quota quota) {
        String name = Tenant.name(tenant);
        if (!quota.equals(quotas.getOrDefault(name, Quota.NONE))) {
            if (quota.equals(Quota.NONE)) {
                quotas.remove(name);
                journal.add(new StateChange.RemoveTenant(name));
            } else {
                quotas.put(name, quota);
                journal.add(new StateChange.PutTenant(new TenantRecord(name, quota.bytes(), quota.caches())));
            }
        }
        return describe(name);
    }

    private Tenant describe(String name) {
        Use use = use(name);
        return new Tenant(name, quotas.getOrDefault(name, Quota.NONE), use.bytes(), use.caches());
    }

    /** Returns tenants with caches or a quota, in the order of their names. */
    public List<Tenant> after(String name, int most) {
        TreeSet<String> names = new TreeSet<>(quotas.keySet());
        names.addAll(uses.keySet());
        return names.tailSet(name, false).stream()
                .limit(most)
                .map(this::describe)
                .toList();
    }
}
