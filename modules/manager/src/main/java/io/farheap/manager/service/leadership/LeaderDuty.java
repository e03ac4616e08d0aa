package io.farheap.manager.service.leadership;

import io.farheap.manager.provider.ServerProvider;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Of a manager that leads: it reads its menu, and has servers started. One thread. */
public final class LeaderDuty implements LeadershipLifecycle.Duty {

    private final Runnable look;
    private final Function<String, ServerProvider> open;
    /** Null before it serves. */
    private @Nullable ServerProvider provider;

    /** @param open with its address, opens what starts servers */
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
