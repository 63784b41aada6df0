// SPDX-License-Identifier: Apache-2.0
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs one embedded Debezium engine per argument pair and writes every record to a file as it comes.
 *
 * <pre>SecondReader PROPERTIES OUT [PROPERTIES OUT ...]</pre>
 *
 * A line of OUT is {"topic":...,"key":...,"value":...} with key and value as the converter wrote them, byte for byte
 * (topics hold no character that JSON escapes). Ends with 0 when its standard input ends, so it never outlives the
 * test that started it; ends with 1 as soon as an engine ends by itself.
 */
public final class SecondReader {
    private static volatile boolean stopping;

    /** The output of one engine; used on that engine's thread only. */
    private static final class RecordFile implements DebeziumEngine.ChangeConsumer<ChangeEvent<String, String>> {
        private final BufferedWriter out;

        RecordFile(Path path) throws IOException {
            out = Files.newBufferedWriter(path, StandardCharsets.UTF_8);
        }

        @Override
        public void handleBatch(List<ChangeEvent<String, String>> records,
                                DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer)
                throws InterruptedException {
            try {
                for (ChangeEvent<String, String> record : records) {
                    out.write("{\"topic\":\"" + record.destination() + "\",\"key\":" + record.key() + ",\"value\":"
                            + record.value() + "}\n");
                    committer.markProcessed(record);
                }
                out.flush();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
            committer.markBatchFinished();
        }
    }

    private static DebeziumEngine<?> engine(String properties, String out) throws IOException {
        Properties p = new Properties();
        try (Reader r = Files.newBufferedReader(Path.of(properties), StandardCharsets.UTF_8)) {
            p.load(r);
        }
        return DebeziumEngine.create(Json.class)
                .using(p)
                .using((DebeziumEngine.CompletionCallback) (success, message, error) -> {
                    if (stopping) {
                        return;
                    }
                    System.err.println("the engine of " + properties + " ended: " + message);
                    if (error != null) {
                        error.printStackTrace();
                    }
                    Runtime.getRuntime().halt(1);
                })
                .notifying(new RecordFile(Path.of(out)))
                .build();
    }

    public static void main(String[] arguments) throws Exception {
        List<DebeziumEngine<?>> engines = new ArrayList<>();
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            engines.add(engine(arguments[i], arguments[i + 1]));
        }
        ExecutorService threads = Executors.newCachedThreadPool();
        engines.forEach(threads::execute);
        while (System.in.read() >= 0) {
            // Nothing is said on standard input; only its end counts.
        }
        stopping = true;
        for (DebeziumEngine<?> e : engines) {
            e.close();
        }
        // Whatever threads the engines leave behind do not matter any more.
        Runtime.getRuntime().halt(0);
    }
}
