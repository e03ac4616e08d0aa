package io.farheap.manager.service.leadership;

import io.farheap.manager.provider.ServerProvider;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The work of a leading manager beside its calls: it watches its menu file, and opens the provider that starts servers.
 * One thread.
 */
public final class LeaderDuty implements LeadershipLifecycle.Duty {

    private final Runnable look;
    private final Function<String, ServerProvider> open;
    /** Null before the manager serves. */
    private @Nullable ServerProvider provider;

    /** @param open given the manager's address, opens the provider that starts servers */
    public LeaderDuty(Runnable look, Function<String, ServerProvider> open) {
        this.look = look;
        this.open = open;
    }

    @Override
    public void serves(String address) {
        provider = open.apply(address);
    }

    @Override
    public void look() {
        look.run();
    }

    @Override
    public void close() {
        if (provider != null) {
            provider.close();
        }
    }
}
