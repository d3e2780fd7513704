// graphile-worker under the same load: local queue and batched completion, as its documentation tunes throughput.
// Prints one JSON line.
import { Logger, makeWorkerUtils, run } from "graphile-worker";

const [connectionString, mode, count] = process.argv.slice(2);
const jobs = Number(count);
const tuned = mode === "throughput";
const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ connectionString, logger });
await utils.migrate();
let done = 0;
let last = 0;
const latencies = [];
let finish;
const finished = new Promise((resolve) => (finish = resolve));
const now = () => Number(process.hrtime.bigint()) / 1e9;

if (tuned) {
  // One call for all: one for each takes a time that grows with the square of their number.
  await utils.withPgClient((client) =>
    client.query(
      `select graphile_worker.add_jobs(array_agg(spec))
         from generate_series(1, $1::int),
              json_populate_record(null::graphile_worker.job_spec, '{"identifier": "noop", "payload": {}}') as spec`,
      [jobs],
    ),
  );
  await utils.withPgClient((client) => client.query("analyze graphile_worker._private_jobs"));
}
const started = now();
const runner = await run({
  taskList: {
    noop: (payload) => {
      done += 1;
      last = now();
      if (!tuned) latencies.push(last - payload.sentAt);
      if (done === jobs) finish();
    },
  },
  noHandleSignals: true,
  preset: {
    worker: {
      connectionString,
      concurrentJobs: tuned ? 24 : 8,
      maxPoolSize: tuned ? 26 : 12,
      pollInterval: 2000,
      ...(tuned ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}),
      logger,
    },
  },
});
if (!tuned) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for (let i = 0; i < jobs; i += 1) {
    await utils.addJob("noop", { sentAt: now() });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
await finished;
console.log(JSON.stringify({ seconds: last - started, latencies }));
await runner.stop();
await utils.release();
process.exit(0);
