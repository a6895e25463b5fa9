import { createServer } from 'node:http';
import { receiveWebhooks } from '@millrace/node';

const receive = receiveWebhooks({
  secret: process.env.MILLRACE_SHARED_SECRET,
  // The id is the same each time a delivery is tried: keep it to take each only once.
  async onEvent(event, id) {
    console.log(id, event.type);
  },
});

createServer(receive).listen(process.env.PORT ?? 3001);
